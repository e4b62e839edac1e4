// Login: by password and by passkey, throttled, sealed, after a restart, and back to where one wanted to go.
import { choosePassword, heading, isLive, isSound, logInByPassword, press, storeRecoveryKey } from './fixtures/entering';
import { authenticator, expect, PASSWORD, test } from './fixtures/test';

test('a passkey alone is enough; a page by number says why there is none', async ({ gateway, page, context, complaints }) => {
  const { presence } = await authenticator(page);
  await page.goto('/onboarding');
  await page.getByRole('radio', { name: 'A passkey, without a password' }).check();
  await press(page, 'Create passkey');
  await press(page, 'Later: leave them unencrypted');
  await expect(heading(page, 'Choose a model provider')).toBeVisible();
  await presence(false);
  await context.clearCookies();
  await page.goto('/chat');
  await expect(page.getByLabel('Password', { exact: true })).toHaveCount(0);
  await isSound(page, 'login-passkey');
  await presence(true);
  await press(page, 'Log in with a passkey');
  await isLive(page);

  await context.clearCookies();
  complaints.allow(/left the origin: http:\/\/127\.0\.0\.1/);
  await page.goto(`http://127.0.0.1:${gateway.port}/chat`);
  await expect(page.getByText('this address is a number')).toBeVisible();
  await page.getByRole('link', { name: 'Open this page as localhost' }).click();
  await expect(page.getByRole('button', { name: 'Log in with a passkey' })).toBeVisible();
});

test('a passkey beside the password; the browser offers it where the password is typed', async ({ gateway, page, context, complaints }) => {
  const { presence } = await authenticator(page);
  await page.goto('/onboarding');
  await choosePassword(page);
  await storeRecoveryKey(page);
  await press(page, 'Create passkey');
  await expect(page.getByText('The passkey is stored.')).toBeVisible();
  await isSound(page, 'passkey-added');
  await press(page, 'Continue');
  await expect(heading(page, 'Choose a model provider')).toBeVisible();

  // The virtual authenticator accepts what autofill offers, as a person would who picks the passkey there.
  await presence(true);
  await context.clearCookies();
  await page.goto('/settings/about?x=1');
  await isLive(page);
  await expect(page).toHaveURL(`${gateway.origin}/settings/about?x=1`);

  // A passkey that was removed meanwhile is told, and the password goes on working. After a restart only the password opens the vault.
  await presence(false);
  await context.clearCookies();
  complaints.allowDowntime();
  await gateway.restart();
  await page.goto('/chat');
  await expect(page.getByText('a passkey lets you in, but does not open it')).toBeVisible();
  await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor();
  await gateway.call('POST', '/api/auth/login', { password: PASSWORD });
  const { passkeys } = await gateway.call<{ passkeys: { id: string }[] }>('GET', '/api/auth/passkeys');
  await gateway.call('DELETE', `/api/auth/passkeys/${passkeys[0]?.id}`);
  await presence(true);
  await press(page, 'Log in with a passkey');
  await expect(page.getByText('This passkey is not known here any more.')).toBeVisible();
  await logInByPassword(page);
  await isLive(page);
});

test('login: a wrong password, a return to where one wanted to go, a revoked session', async ({ home, page, context }) => {
  await context.clearCookies();
  await page.goto('/settings/vault?from=mail');
  await expect(heading(page, 'Log in to Gatehouse')).toBeVisible();
  const field = page.getByLabel('Password', { exact: true });
  await expect(field).toBeFocused();
  await press(page, 'Log in');
  await expect(page.getByText('Type the password.')).toBeVisible();
  await isSound(page, 'login');
  await logInByPassword(page, 'wrong password');
  await expect(page.getByText('This password is not right.')).toBeVisible();
  await expect(field).toBeFocused();
  const selected = await field.evaluate((input: HTMLInputElement) => [input.selectionStart, input.selectionEnd]);
  expect(selected).toEqual([0, 'wrong password'.length]);
  await field.dispatchEvent('keydown', { key: 'A', modifierCapsLock: true });
  await expect(page.getByText('Caps Lock is on.')).toBeVisible();
  await page.getByText('Lost the password?').click();
  await expect(page.getByText('gatehouse auth reset')).toBeVisible();
  await isSound(page, 'login-wrong');
  await page.keyboard.type(PASSWORD);
  await field.fill(PASSWORD);
  await field.press('Enter');
  await isLive(page);
  await expect(page).toHaveURL(`${home.origin}/settings/vault?from=mail`);

  await home.call('DELETE', '/api/auth/sessions');
  await expect(page.getByText('You were logged out.')).toBeVisible();
  await isSound(page, 'login-ended');
  await expect(page).toHaveURL(`${home.origin}/settings/vault?from=mail`);
  await logInByPassword(page);
  await isLive(page);
});

test('login: a browser that keeps no cookie is told so', async ({ home, page, context }) => {
  await context.clearCookies();
  await page.route('**/api/auth/login', async (route) => {
    const answer = await route.fetch();
    await context.clearCookies();
    await route.fulfill({ status: answer.status(), contentType: 'application/json', body: await answer.body() });
  });
  await page.goto('/deliveries');
  await logInByPassword(page);
  await expect(page.getByText('this browser did not keep the cookie')).toBeVisible();
  await page.unroute('**/api/auth/login');
  await press(page, 'Log in');
  await expect(heading(page, 'Deliveries')).toBeVisible();
  expect(page.url()).toBe(`${home.origin}/deliveries`);
});

test('login: too many tries are counted down, and a restart meanwhile changes nothing of that', async ({ home, page, context, complaints }) => {
  complaints.allowDowntime();
  await context.clearCookies();
  await page.clock.install();
  await page.goto('/chat');
  const field = page.getByLabel('Password', { exact: true });
  const button = page.getByRole('button', { name: 'Log in', exact: true });
  for (let tries = 0; tries < 5; tries++) {
    await logInByPassword(page, `wrong ${tries}`);
    await expect(page.getByText('This password is not right.')).toBeVisible();
    await expect(button).toBeEnabled();
  }
  await logInByPassword(page);
  const timer = page.getByRole('timer');
  await expect(timer).toHaveText(/You can try again in \d+ s\./);
  await expect(page.getByRole('status').filter({ hasText: 'You can try again in' })).toBeAttached();
  await expect(button).toBeDisabled();
  await isSound(page, 'login-wait');
  const seconds = Number(/in (\d+) s/.exec((await timer.textContent()) ?? '')?.[1]);
  await page.clock.runFor(5000);
  await expect.poll(async () => Number(/in (\d+) s/.exec((await timer.textContent()) ?? '')?.[1])).toBeLessThanOrEqual(seconds - 5);
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

test('login: the gateway is restarted meanwhile, and the password opens the sealed vault', async ({ home, page, context, complaints }) => {
  complaints.allowDowntime();
  await context.clearCookies();
  await page.goto('/chat');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await home.stop();
  await press(page, 'Log in');
  await expect(page.getByText('What you typed stays here')).toBeVisible();
  await isSound(page, 'login-offline');
  await home.run();
  await expect(page.getByText('What you typed stays here')).toHaveCount(0);
  await expect(page.getByText('Logging in with the password opens it')).toBeVisible();
  await isSound(page, 'login-sealed');
  await expect(page.getByLabel('Password', { exact: true })).toHaveValue(PASSWORD);
  await press(page, 'Log in');
  await isLive(page);
  await expect(page.getByText('The vault is sealed.')).toHaveCount(0);
});

test('logged out by the menu: the gateway knows of it, or it is not said to be done', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/deliveries');
  await isLive(page);
  const logOut = async () => {
    await page.getByRole('button', { name: 'Looks and login' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
  };
  await home.stop();
  await logOut();
  await expect(page.getByRole('region', { name: 'Messages' }).getByText('The gateway does not answer.')).toBeVisible();
  await expect(heading(page, 'Deliveries')).toBeVisible();
  await home.run();
  await isLive(page);
  await logOut();
  await expect(heading(page, 'Log in to Gatehouse')).toBeVisible();
  await expect(page).toHaveURL(`${home.origin}/`);
  await expect(home.call('GET', '/api/auth/sessions')).rejects.toThrow('401');
});

test('logged out: no window of the browser keeps anything of the person', async ({ home, page, context, complaints }) => {
  // The logout ends the live connection; a window that already connects again gives that up when it leaves the page.
  complaints.allow(/WebSocket is closed before the connection is established/);
  await home.rpc('sessions.create', { label: 'Private plans' });
  const other = await context.newPage();
  for (const window of [page, other]) {
    await window.goto('/chat');
    await isLive(window);
    await expect(window.getByText('Private plans').first()).toBeVisible();
    // What is in the memory of a window is gone when it was loaded anew.
    await window.evaluate(() => Object.assign(globalThis, { remembered: true }));
  }
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await page.getByRole('button', { name: 'Looks and login' }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  for (const window of [page, other]) {
    await expect(heading(window, 'Log in to Gatehouse')).toBeVisible();
    expect(await window.evaluate(() => 'remembered' in globalThis)).toBe(false);
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
  expect(kept).toEqual({ cached: ['/assets/offline.css', '/assets/offline.html'], stored: ['PARAGLIDE_LOCALE'], databases: 0 });
});
