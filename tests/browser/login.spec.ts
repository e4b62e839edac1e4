// Login: password, passkey, throttling, sealed vault, restarts, and the return to the requested page.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { choosePassword, heading, isLive, isSound, logInByPassword, press, storeRecoveryKey } from './fixtures/entering';
import { authenticator, expect, PASSWORD, secondWindow, test } from './fixtures/test';

test('a passkey alone is enough; a page opened by IP address says why passkeys are unavailable', async ({ gateway, page, context, complaints }) => {
  const { presence } = await authenticator(page);
  await page.goto('/onboarding');
  await page.getByRole('radio', { name: 'Passkey only' }).check();
  await press(page, 'Create passkey');
  await press(page, 'Skip: leave secrets unencrypted');
  await expect(heading(page, 'Choose a model provider')).toBeVisible();
  await presence(false);
  await context.clearCookies();
  await page.goto('/chat');
  await expect(page.getByRole('textbox', { name: 'Password', exact: true })).toHaveCount(0);
  await isSound(page, 'login-passkey');
  await presence(true);
  await press(page, 'Log in with a passkey');
  await isLive(page);

  await context.clearCookies();
  complaints.allow(/left the origin: http:\/\/127\.0\.0\.1/);
  await page.goto(`http://127.0.0.1:${gateway.port}/chat`);
  await expect(page.getByText('you opened an IP address')).toBeVisible();
  await page.getByRole('link', { name: 'Switch to localhost' }).click();
  await expect(page.getByRole('button', { name: 'Log in with a passkey' })).toBeVisible();
});

test('a passkey in addition to the password; the browser offers it in the password field', async ({ gateway, page, context, complaints }) => {
  const { presence } = await authenticator(page);
  await page.goto('/onboarding');
  await choosePassword(page);
  await storeRecoveryKey(page);
  await press(page, 'Create passkey');
  await expect(page.getByText('Passkey saved.')).toBeVisible();
  await isSound(page, 'passkey-added');
  await press(page, 'Continue');
  await expect(heading(page, 'Choose a model provider')).toBeVisible();

  // The virtual authenticator accepts the autofill offer, as a user who picks the passkey.
  await presence(true);
  await context.clearCookies();
  await page.goto('/settings/system?x=1');
  await isLive(page);
  await expect(page).toHaveURL(`${gateway.origin}/settings/system?x=1`);

  // A removed passkey is reported, and the password keeps working. After a restart only the password unlocks the vault.
  await presence(false);
  await context.clearCookies();
  complaints.allowDowntime();
  await gateway.restart();
  await page.goto('/chat');
  await expect(page.getByText('a passkey does not.')).toBeVisible();
  await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor();
  await gateway.call('POST', '/api/auth/login', { password: PASSWORD });
  const { passkeys } = await gateway.call<{ passkeys: { id: string }[] }>('GET', '/api/auth/passkeys');
  await gateway.call('DELETE', `/api/auth/passkeys/${passkeys[0]?.id}`);
  await presence(true);
  await press(page, 'Log in with a passkey');
  await expect(page.getByText('This passkey is no longer registered here.')).toBeVisible();
  await logInByPassword(page);
  await isLive(page);
});

test('login: a wrong password, the return to the requested page, a revoked session', async ({ home, page, context }) => {
  await context.clearCookies();
  await page.goto('/vault?from=mail');
  await expect(heading(page, 'Log in to Gatehouse')).toBeVisible();
  const field = page.getByRole('textbox', { name: 'Password', exact: true });
  await expect(field).toBeFocused();
  await press(page, 'Log in');
  await expect(page.getByText('Enter your password.')).toBeVisible();
  await isSound(page, 'login');
  await logInByPassword(page, 'wrong password');
  await expect(page.getByText('Incorrect password.')).toBeVisible();
  await expect(field).toBeFocused();
  const selected = await field.evaluate((input: HTMLInputElement) => [input.selectionStart, input.selectionEnd]);
  expect(selected).toEqual([0, 'wrong password'.length]);
  await field.dispatchEvent('keydown', { key: 'A', modifierCapsLock: true });
  await expect(page.getByText('Caps Lock is on.')).toBeVisible();
  await page.getByText('Forgot your password?').click();
  await expect(page.getByText('gatehouse auth reset')).toBeVisible();
  await isSound(page, 'login-wrong');
  await page.keyboard.type(PASSWORD);
  await field.fill(PASSWORD);
  await field.press('Enter');
  await isLive(page);
  await expect(page).toHaveURL(`${home.origin}/vault?from=mail`);

  await home.call('DELETE', '/api/auth/sessions');
  await expect(page.getByText('You were logged out.')).toBeVisible();
  await isSound(page, 'login-ended');
  await expect(page).toHaveURL(`${home.origin}/vault?from=mail`);
  await logInByPassword(page);
  await isLive(page);
});

test('login: a browser that blocks the cookie gets an explanation', async ({ home, page, context }) => {
  await context.clearCookies();
  await page.route('**/api/auth/login', async (route) => {
    const answer = await route.fetch();
    await context.clearCookies();
    await route.fulfill({ status: answer.status(), contentType: 'application/json', body: await answer.body() });
  });
  await page.goto('/deliveries');
  await logInByPassword(page);
  await expect(page.getByText('your browser blocked the session cookie')).toBeVisible();
  await page.unroute('**/api/auth/login');
  await press(page, 'Log in');
  await expect(heading(page, 'Deliveries')).toBeVisible();
  expect(page.url()).toBe(`${home.origin}/deliveries`);
});

test('login: too many attempts start a countdown, and a restart does not reset it', async ({ home, page, context, complaints }) => {
  complaints.allowDowntime();
  await context.clearCookies();
  await page.clock.install();
  await page.goto('/chat');
  const field = page.getByRole('textbox', { name: 'Password', exact: true });
  const button = page.getByRole('button', { name: 'Log in', exact: true });
  for (let tries = 0; tries < 5; tries++) {
    await logInByPassword(page, `wrong ${tries}`);
    await expect(page.getByText('Incorrect password.')).toBeVisible();
    await expect(button).toBeEnabled();
  }
  await logInByPassword(page);
  const timer = page.getByRole('timer');
  await expect(timer).toHaveText(/Try again in \d+\ss\./);
  await expect(page.getByRole('status').filter({ hasText: 'Try again in' })).toBeAttached();
  await expect(button).toBeDisabled();
  await isSound(page, 'login-wait');
  const seconds = Number(/in (\d+)\ss/.exec((await timer.textContent()) ?? '')?.[1]);
  await page.clock.runFor(5000);
  await expect.poll(async () => Number(/in (\d+)\ss/.exec((await timer.textContent()) ?? '')?.[1])).toBeLessThanOrEqual(seconds - 5);
  await home.restart('SIGKILL');
  await expect(button).toBeDisabled();
  await page.clock.runFor(seconds * 1000);
  await expect(timer).toHaveCount(0);
  await expect(page.getByText('You can try again now.')).toBeAttached();
  await expect(button).toBeEnabled();
  await expect(field).toHaveValue(PASSWORD);
  await press(page, 'Log in');
  await isLive(page);
});

test('login: the gateway restarts, and the password unlocks the sealed vault', async ({ home, page, context, complaints }) => {
  complaints.allowDowntime();
  await context.clearCookies();
  await page.goto('/chat');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await home.stop();
  await press(page, 'Log in');
  await expect(page.getByText('What you typed is kept')).toBeVisible();
  await isSound(page, 'login-offline');
  // While it opens its database, the gateway refuses every request but the probes.
  const starting = createServer((_, answer) =>
    answer
      .writeHead(503, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: 'The server is starting.', code: 'STORAGE_UNAVAILABLE' })),
  ).listen(home.port, '127.0.0.1');
  await once(starting, 'request');
  starting.closeAllConnections();
  await new Promise((closed) => starting.close(closed));
  await home.run();
  await expect(page.getByText('What you typed is kept')).toHaveCount(0);
  await expect(page.getByText('Logging in with the password unlocks it')).toBeVisible();
  await isSound(page, 'login-sealed');
  await expect(page.getByRole('textbox', { name: 'Password', exact: true })).toHaveValue(PASSWORD);
  await press(page, 'Log in');
  await isLive(page);
  await expect(page.getByText('The vault is sealed.')).toHaveCount(0);
});

test('logout from the menu ends the session on the gateway, or reports that it did not', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/deliveries');
  await isLive(page);
  const logOut = async () => {
    await page.getByRole('button', { name: 'Account and theme' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
  };
  await home.stop();
  await logOut();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('The gateway is not responding.')).toBeVisible();
  await expect(heading(page, 'Deliveries')).toBeVisible();
  await home.run();
  await isLive(page);
  await logOut();
  await expect(heading(page, 'Log in to Gatehouse')).toBeVisible();
  await expect(page).toHaveURL(`${home.origin}/`);
  await expect(home.call('GET', '/api/auth/sessions')).rejects.toThrow('401');
  // Otherwise Chromium sometimes does not close the window after the gateway has ended.
  await page.waitForLoadState('networkidle');
});

test('logout: no window of the browser keeps user data', async ({ home, page }) => {
  await home.rpc('sessions.create', { label: 'Private plans' });
  const other = await secondWindow(page);
  for (const window of [page, other]) {
    await window.goto('/chat');
    await isLive(window);
    await expect(window.getByText('Private plans').first()).toBeVisible();
    // A reload clears the memory of a window.
    await window.evaluate(() => Object.assign(globalThis, { remembered: true }));
  }
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await page.getByRole('button', { name: 'Account and theme' }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  for (const window of [page, other]) {
    // The other window may receive the end of its session before the logout, and shows the login meanwhile.
    const remembers = () => window.evaluate(() => 'remembered' in globalThis).catch(() => null);
    if (window === other) await expect.poll(remembers).toBe(false);
    await expect(heading(window, 'Log in to Gatehouse')).toBeVisible();
    expect(await remembers()).toBe(false);
    await expect(window.locator('body')).not.toContainText('Private plans');
    await expect(window).toHaveTitle(/^Log in/);
  }
  const kept = await page.evaluate(async () => {
    const names = await caches.keys();
    const urls = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map((one) => new URL(one.url).pathname)));
    return {
      cached: urls.flat().sort(),
      stored: [...Object.keys(localStorage), ...Object.keys(sessionStorage)],
      databases: (await indexedDB.databases()).length,
    };
  });
  expect(kept).toEqual({ cached: ['/assets/offline.css', '/assets/offline.html', '/assets/offline.js', '/assets/offline.woff2'], stored: [], databases: 0 });
});
