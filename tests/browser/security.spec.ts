// Settings, security: what a person does with passwords, passkeys, sessions, keys and devices, and what follows from it.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import {
  authenticator,
  expect,
  logIn,
  PASSWORD,
  test,
  watch,
  type Complaints,
  type Gateway,
} from './fixtures/test';

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
/** A short message at the edge of the page. */
const told = (page: Page, text: string) => page.getByRole('region', { name: 'Messages' }).getByText(text);
const dialog = (page: Page) => page.getByRole('dialog');

/** Another browser of the same person, logged in by password and watched like the first. */
async function elsewhere(browser: Browser, gateway: Gateway, complaints: Complaints): Promise<[BrowserContext, Page]> {
  const context = await browser.newContext({ baseURL: gateway.origin });
  watch(context, gateway.origin, complaints);
  await logIn(context, gateway, PASSWORD);
  return [context, await context.newPage()];
}

/** Puts the last confirmation of every session out of date, in the stopped gateway's own database: its clock cannot be moved from outside. */
async function confirmedLongAgo(gateway: Gateway): Promise<void> {
  await gateway.stop();
  const database = join(gateway.directory, 'gatehouse.db');
  const change = 'UPDATE auth_sessions SET confirmed_at = confirmed_at - 960000';
  const program = 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()';
  execFileSync(process.env.GATEHOUSE_TEST_PYTHON || 'python3', ['-c', program, database, change]);
  await gateway.run();
}

test('a passkey is added, renamed, logs in, and is removed', async ({ home, page, context }) => {
  const device = await authenticator(page);
  await page.goto('/settings/security');
  const passkeys = section(page, 'Passkeys');
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
  await expect(dialog(page).getByLabel('Name')).toHaveValue('Linux');
  await dialog(page).getByLabel('Name').fill(' ');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(dialog(page).getByRole('alert')).toHaveText('Give it a name.');
  await expect(dialog(page).getByLabel('Name')).toBeFocused();
  await dialog(page).getByLabel('Name').fill('Work laptop');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(passkeys.getByText('Work laptop', { exact: true })).toBeVisible();

  // The same device once more: the browser refuses, and the page says why.
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog(page).getByLabel('Name').fill('Again');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('holds a passkey');
  await page.keyboard.press('Escape');

  await passkeys.getByRole('button', { name: 'Actions for Work laptop' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await dialog(page).getByLabel('Name').fill('Old laptop');
  await dialog(page).getByRole('button', { name: 'Rename' }).click();
  await expect(passkeys.getByText('Old laptop', { exact: true })).toBeVisible();

  // Untouched at first, or the login would take it before anybody pressed anything.
  await device.presence(false);
  await context.clearCookies();
  await page.goto('/settings/security');
  const byPasskey = page.getByRole('button', { name: 'Log in with a passkey' });
  await byPasskey.waitFor();
  await device.presence(true);
  // The browser's own offer may be taken before the button is pressed: that is a login, too.
  await byPasskey.click({ timeout: 5_000 }).catch(() => undefined);
  await expect(page.getByRole('heading', { name: 'Security' })).toBeVisible();
  await expect(section(page, 'Sessions').getByRole('listitem').filter({ hasText: 'This device' })).toContainText(
    'by passkey',
  );

  await passkeys.getByRole('button', { name: 'Actions for Old laptop' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await dialog(page).getByLabel('Type Old laptop to confirm').fill('Old laptop');
  await dialog(page).getByRole('button', { name: 'Remove' }).click();
  await expect(passkeys.getByText('No passkey yet')).toBeVisible();
  expect((await home.call<{ passkeys: unknown[] }>('GET', '/api/auth/passkeys')).passkeys).toEqual([]);
});

test('an address that passkeys cannot be bound to says so', async ({ home, page, context, complaints }) => {
  const numbers = `http://127.0.0.1:${home.port}`;
  watch(context, numbers, complaints);
  complaints.allow(new RegExp(`left the origin: (http|ws)://127.0.0.1:${home.port}`));
  const [name = '', value = ''] = home.cookie.split('=');
  await context.addCookies([{ name, value, url: numbers, httpOnly: true, sameSite: 'Strict' }]);
  await page.goto(`${numbers}/settings/security`);
  const passkeys = section(page, 'Passkeys');
  await expect(passkeys.getByRole('link', { name: /localhost/ })).toBeVisible();
  await expect(passkeys.getByRole('button', { name: 'Add a passkey' })).toHaveCount(0);
});

test('the last way in stays; the first password makes the vault', async ({ gateway, page }) => {
  await authenticator(page);
  // Set up by passkey alone, by the ceremony itself.
  await page.goto('/');
  await page.evaluate(async () => {
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`/api/auth/passkey/register/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const begun = await post('begin', {});
    const { publicKey } = begun.options as { publicKey: PublicKeyCredentialCreationOptionsJSON };
    const credential = (await navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey),
    })) as PublicKeyCredential;
    await post('finish', { challenge_id: begun.challenge_id, name: 'Only one', credential: credential.toJSON() });
  });
  await page.goto('/settings/security');
  const passkeys = section(page, 'Passkeys');
  await expect(passkeys.getByText('Last way in', { exact: true })).toBeVisible();
  await expect(passkeys.getByText('The last way in cannot be removed.')).toBeVisible();
  await passkeys.getByRole('button', { name: 'Actions for Only one' }).click();
  await expect(page.getByRole('menuitem', { name: 'Remove' })).toBeDisabled();
  await page.keyboard.press('Escape');

  await section(page, 'Password').getByRole('button', { name: 'Set a password' }).click();
  await dialog(page).getByLabel('New password', { exact: true }).fill(PASSWORD);
  await dialog(page).getByLabel('New password again', { exact: true }).fill(PASSWORD);
  await dialog(page).getByRole('button', { name: 'Set a password' }).click();
  const shown = dialog(page).getByText(/^([A-Z2-9]{4}-){7}[A-Z2-9]{4}$/);
  await expect(shown).toBeVisible();
  // It stays until the person says so, whatever is pressed.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(shown).toBeVisible();
  await dialog(page).getByLabel('I stored it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await expect(section(page, 'Password').getByRole('button', { name: 'Change the password' })).toBeVisible();
  await expect(passkeys.getByText('Last way in', { exact: true })).toHaveCount(0);
  expect((await gateway.call<{ status: string }>('GET', '/api/auth/vault/status')).status).toBe('unsealed');
});

test('the password is changed: rules while typing, other sessions end', async ({ home, page, browser, complaints }) => {
  const [other, otherPage] = await elsewhere(browser, home, complaints);
  await otherPage.goto('/settings/security');
  await expect(otherPage.getByRole('heading', { name: 'Sessions' })).toBeVisible();
  await page.goto('/settings/security');
  await section(page, 'Password').getByRole('button', { name: 'Change the password' }).click();
  await expect(dialog(page)).toContainText('The other session ends');
  const rules = dialog(page).getByRole('list', { name: 'What the password must be' });
  const action = dialog(page).getByRole('button', { name: 'Change the password' });
  await dialog(page).getByLabel('Current password', { exact: true }).fill('not the password');
  await dialog(page).getByLabel('New password', { exact: true }).fill('too short');
  await expect(rules.getByText('12 characters or more (9 now)')).toBeVisible();
  await expect(action).toBeDisabled();
  await dialog(page).getByLabel('New password', { exact: true }).fill('another long password');
  await dialog(page).getByLabel('New password again', { exact: true }).fill('another long password');
  await action.click();
  await expect(dialog(page).getByRole('alert')).toHaveText('This is not the current password.');
  await expect(dialog(page).getByLabel('Current password', { exact: true })).toBeFocused();
  await dialog(page).getByLabel('Current password', { exact: true }).fill(PASSWORD);
  await action.click();
  await expect(told(page, 'The password was changed')).toBeVisible();
  // The other window shows the login where it stands.
  await expect(otherPage.getByRole('heading', { name: 'Sessions' })).toHaveCount(0);
  await expect(otherPage.getByLabel('Password', { exact: true })).toBeVisible();
  const login = (password: string) => other.request.post(`${home.origin}/api/auth/login`, { data: { password } });
  expect((await login(PASSWORD)).status()).toBe(401);
  expect((await login('another long password')).status()).toBe(200);
  await other.close();
});

test('a session that is ended in one window logs the other out', async ({ home, page, browser, complaints }) => {
  const [other, otherPage] = await elsewhere(browser, home, complaints);
  await otherPage.goto('/settings/security');
  await expect(otherPage.getByRole('heading', { name: 'Security' })).toBeVisible();
  await page.goto('/settings/security');
  const sessions = section(page, 'Sessions');
  const its = sessions.getByRole('listitem').filter({ hasText: 'Chrome on Linux' });
  await expect(its).toContainText('by password');
  await expect(its).toContainText('127.0.0.1');
  await its.getByRole('button', { name: /^End/ }).click();
  await expect(its).toHaveCount(0);
  await expect(otherPage.getByLabel('Password', { exact: true })).toBeVisible();
  // Logged in again, and ended with all others.
  await logIn(other, home, PASSWORD);
  await otherPage.reload();
  await expect(otherPage.getByRole('heading', { name: 'Security' })).toBeVisible();
  await sessions.getByRole('button', { name: 'End all others' }).click();
  await dialog(page).getByRole('button', { name: 'End them' }).click();
  await expect(told(page, 'One session was ended')).toBeVisible();
  await expect(otherPage.getByLabel('Password', { exact: true })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Security' })).toBeVisible();
  await other.close();
});

test('an API key is made once, used within its scopes, and revoked', async ({ home, page, complaints }) => {
  // The network that is none.
  complaints.allow(/status of 400/);
  await page.goto('/settings/security');
  const keys = section(page, 'API keys');
  await keys.getByRole('button', { name: 'Create an API key' }).click();
  await dialog(page).getByLabel('Read').uncheck();
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await expect(dialog(page).getByRole('alert').first()).toBeVisible();
  await expect(dialog(page).getByLabel('Label')).toBeFocused();
  await dialog(page).getByLabel('Label').fill('backup script');
  await dialog(page).getByLabel('Read').check();
  await dialog(page).getByLabel('Ends').selectOption('In 30 days');
  await dialog(page).getByLabel('Only from these addresses').fill('not a network');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('Each must be a network');
  await dialog(page).getByLabel('Only from these addresses').fill('127.0.0.0/8\n::1/128');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  const key = await dialog(page).getByText(/^mk_/).innerText();
  await expect(dialog(page).getByText(`curl -H 'Authorization: Bearer ${key}' ${home.origin}/api/gon`)).toBeVisible();
  await dialog(page).getByLabel('I stored it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await expect(page.locator('body')).not.toContainText(key);

  const ask = (path: string, body?: object) =>
    fetch(`${home.origin}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const gon = await ask('/api/gon');
  expect(gon.status).toBe(200);
  expect(await gon.json()).toMatchObject({ identity: { method: 'ApiKey', scopes: ['operator.read'] } });
  const minted = await ask('/api/auth/api-keys', { label: 'wider', scopes: ['operator.admin'] });
  expect(minted.status).toBe(403);
  const written = (await (await ask('/api/rpc', { id: 1, method: 'env.set', params: { key: 'A', value: 'b' } })).json()) as {
    error: { data: { code: string } };
  };
  expect(written.error.data.code).toBe('FORBIDDEN');

  await page.reload();
  const row = keys.getByRole('listitem').filter({ hasText: 'backup script' });
  await expect(row).toContainText(key.slice(0, 11));
  await expect(row).toContainText('Read');
  await expect(row).toContainText('Only from 127.0.0.0/8, ::1/128');
  await row.getByRole('button', { name: /^Revoke/ }).click();
  await expect(dialog(page).getByRole('button', { name: 'Revoke' })).toBeDisabled();
  await dialog(page).getByLabel('Type backup script to confirm').fill('backup script');
  await dialog(page).getByRole('button', { name: 'Revoke' }).click();
  await expect(keys.getByText('No API key yet')).toBeVisible();
  expect((await ask('/api/gon')).status).toBe(401);
});

test('an old confirmation is asked for again, and only where it matters', async ({ home, page }) => {
  await confirmedLongAgo(home);
  await page.goto('/settings/security');
  const confirmation = section(page, 'Confirmation');
  await expect(confirmation.getByText('Not confirmed')).toBeVisible();
  const keys = section(page, 'API keys');
  await keys.getByRole('button', { name: 'Create an API key' }).click();
  await dialog(page).getByLabel('Label').fill('everything');
  await dialog(page).getByLabel('Admin').check();
  await expect(dialog(page).getByText('owns this gateway')).toBeVisible();
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  const asked = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await asked.getByLabel('Password', { exact: true }).fill('wrong');
  await asked.getByRole('button', { name: 'Confirm', exact: true }).click();
  await expect(asked.getByRole('alert')).toBeVisible();
  // Whoever does not confirm changes nothing.
  await page.keyboard.press('Escape');
  await expect(dialog(page).getByRole('alert')).toContainText('Confirm that it is you');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await asked.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await asked.getByRole('button', { name: 'Confirm', exact: true }).click();
  await expect(dialog(page).getByText(/^mk_/)).toBeVisible();
  await dialog(page).getByLabel('I stored it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await expect(keys.getByRole('listitem').filter({ hasText: 'everything' })).toContainText('Admin');
  await expect(confirmation.getByText('Confirmed', { exact: true })).toBeVisible();
});

test('a device is paired by a token, seen, and revoked', async ({ home, page }) => {
  await page.goto('/settings/security');
  const devices = section(page, 'Paired devices');
  await devices.getByRole('button', { name: 'Pair a device' }).click();
  await dialog(page).getByLabel('Label').fill('kitchen tablet');
  await dialog(page).getByRole('button', { name: 'Pair', exact: true }).click();
  const token = await dialog(page).locator('code').first().innerText();
  await dialog(page).getByLabel('I stored it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await expect(devices.getByText('Not connected')).toBeVisible();
  const other = await page.context().browser()?.newContext();
  const visitor = await other?.newPage();
  await visitor?.goto(`${home.origin}/health`);
  const connect = async (device_token: string) =>
    visitor?.evaluate(
      (token) =>
        new Promise<string>((resolve) => {
          const socket = new WebSocket(`ws://${location.host}/ws`);
          socket.onopen = () =>
            socket.send(
              JSON.stringify({
                id: 1,
                method: 'connect',
                params: { client: { id: 'tablet', version: '1' }, auth: { device_token: token } },
              }),
            );
          socket.onmessage = (event) => resolve(String(event.data).includes('"result"') ? 'in' : 'refused');
        }),
      device_token,
    );
  expect(await connect(token)).toBe('in');
  await page.reload();
  await expect(devices.getByText('Connected', { exact: true })).toBeVisible();
  await devices.getByRole('button', { name: /^Revoke/ }).click();
  await dialog(page).getByLabel('Type kitchen tablet to confirm').fill('kitchen tablet');
  await dialog(page).getByRole('button', { name: 'Revoke' }).click();
  await expect(devices.getByText('No device is paired')).toBeVisible();
  expect(await connect(token)).toBe('refused');
  await other?.close();
});

test('all authentication is removed, what follows is said, and it is set up again', async ({ home, page }) => {
  const { key } = await home.call<{ key: string }>('POST', '/api/auth/api-keys', {
    label: 'x',
    scopes: ['operator.read'],
  });
  await page.goto('/settings/security');
  const removal = section(page, 'Remove all authentication');
  await expect(removal.getByText(/audit log are kept/)).toBeVisible();
  await removal.getByRole('button', { name: 'Remove everything' }).click();
  await expect(dialog(page).getByRole('button', { name: 'Remove everything' })).toBeDisabled();
  await dialog(page).getByLabel('Type remove all authentication to confirm').fill('remove all authentication');
  await dialog(page).getByRole('button', { name: 'Remove everything' }).click();
  await expect(page.getByRole('heading', { name: 'Authentication is off' })).toBeVisible();
  await expect(page.getByText('everyone who reaches this address is let in', { exact: false }).first()).toBeVisible();
  await expect(section(page, 'API keys').getByText('No API key yet')).toBeVisible();
  await expect(removal).toHaveCount(0);
  const asked = await fetch(`${home.origin}/api/gon`, { headers: { authorization: `Bearer ${key}` } });
  expect(await asked.json()).toMatchObject({ auth_disabled: true, identity: { method: 'Loopback' } });
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Set up authentication' }).click();
  await expect(page).toHaveURL(`${home.origin}/onboarding`);
  // Setting it up again elsewhere ends the stay of everybody who was let in without login.
  await page.goto('/settings/security');
  await expect(page.getByRole('heading', { name: 'Authentication is off' })).toBeVisible();
  const response = await fetch(`${home.origin}/api/auth/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ password: 'a password after all' }),
  });
  expect(response.status).toBe(200);
  await expect(page.getByRole('heading', { name: 'Authentication is off' })).toHaveCount(0);
  await expect(page.getByLabel('Password', { exact: true })).toBeVisible();
});

test('the audit log tells in words what was done, filters and pages', async ({ home, page }) => {
  await home.call('POST', '/api/auth/api-keys', { label: 'x', scopes: ['operator.read', 'operator.write'] });
  await home.rpc('env.set', { key: 'TOKEN', value: 'secret value' });
  await home.call('POST', '/api/auth/vault/seal');
  await home.call('POST', '/api/auth/vault/unlock', { password: PASSWORD });
  for (let at = 0; at < 60; at++) await home.rpc('config.set', { key: 'log.level', value: at % 2 ? 'info' : 'warn' });
  await page.goto('/settings/security');
  await page.getByRole('link', { name: 'Open the audit log' }).click();
  await expect(page.getByRole('heading', { name: 'Audit log' })).toBeFocused();
  const rows = page.getByRole('list', { name: 'Audit log' }).locator('> li');
  await expect(rows).toHaveCount(50);
  await expect(rows.first()).toContainText('Setting changed: log.level = "info"');
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect(rows.filter({ hasText: 'Setup completed: by password' })).toBeVisible();
  await expect(rows.filter({ hasText: 'API key created: x, operator.read, operator.write' })).toContainText('You, in this session');
  await expect(rows.filter({ hasText: 'Environment variable stored: TOKEN, encrypted' })).toBeVisible();
  await expect(rows.filter({ hasText: 'Vault sealed' })).toBeVisible();
  await expect(page.locator('main')).not.toContainText('secret value');
  await page.getByLabel('Show', { exact: true }).selectOption('Vault unlocked');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('Vault unlocked: by password');
  await expect(page).toHaveURL(/kind=vault\.unsealed/);
  await rows.locator('summary').click();
  await expect(rows.locator('pre')).toContainText('"kind": "vault.unsealed"');
  await page.reload();
  await expect(rows).toHaveCount(1);
  await page.getByLabel('Show', { exact: true }).selectOption('Device revoked');
  await expect(page.getByText('Nothing of this kind')).toBeVisible();
});

test('no violation in both themes, no sideways scroll, all of it by keyboard', async ({ home, page }) => {
  await home.call('POST', '/api/auth/api-keys', { label: 'a key', scopes: ['operator.admin'] });
  await home.rpc('pairing.create', { label: 'a device' });
  for (const path of ['/settings/security', '/settings/security/audit-log']) {
    await page.goto(path);
    await expect(page.getByRole('list').getByText(/a key|API key created/).first()).toBeVisible();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), `${path} ${colorScheme}`).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 700 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    expect(await violations(page), `${path} narrow`).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 900 });
  }
  // By keyboard alone: a key is made, and the focus comes back to where it began.
  await page.goto('/settings/security');
  const create = page.getByRole('button', { name: 'Create an API key' });
  await create.focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await expect(dialog(page).getByLabel('Label')).toBeFocused();
  await page.keyboard.type('by keyboard');
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByText(/^mk_/)).toBeVisible();
  expect(await violations(page)).toEqual([]);
  const reached: string[] = [];
  for (let at = 0; at < 6 && !reached.includes('I stored it'); at++) {
    await page.keyboard.press('Tab');
    reached.push(
      await page.evaluate(() => (document.activeElement as HTMLInputElement | null)?.labels?.[0]?.textContent ?? ''),
    );
  }
  await page.keyboard.press('Space');
  await dialog(page).getByRole('button', { name: 'Done' }).press('Enter');
  await expect(create).toBeFocused();
});
