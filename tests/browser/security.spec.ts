// Settings → Security: sessions, API keys, devices, confirmation, removing all authentication, and the audit log.
import { readFileSync } from 'node:fs';
import type { BrowserContext } from '@playwright/test';
import { violations } from './fixtures/axe';
import { confirmedLongAgo, connectDevice, dialog, elsewhere, section, notification } from './fixtures/security';
import { expect, logIn, PASSWORD, secondWindow, test } from './fixtures/test';

test('logging out a session logs out its window, and a restart neither restores it nor ends the others', async ({
  home,
  page,
  browser,
  complaints,
}) => {
  complaints.allowDowntime();
  const [other, otherPage] = await elsewhere(browser, home, complaints);
  await otherPage.goto('/settings/security');
  await expect(otherPage.getByRole('heading', { name: 'Security' })).toBeVisible();
  await page.goto('/settings/security');
  const sessions = section(page, 'Sessions');
  const its = sessions.getByRole('listitem').filter({ hasText: 'Chrome on Linux' });
  await expect(its).toContainText('with the password');
  await expect(its).toContainText('127.0.0.1');
  await its.getByRole('button', { name: /^Log out/ }).click();
  await expect(its).toHaveCount(0);
  await expect(otherPage.getByRole('textbox', { name: 'Password', exact: true })).toBeVisible();
  // Log in again, then log out all other sessions.
  await logIn(other, home, PASSWORD);
  await otherPage.reload();
  await expect(otherPage.getByRole('heading', { name: 'Security' })).toBeVisible();
  await sessions.getByRole('button', { name: 'Log out all others' }).click();
  await dialog(page).getByRole('button', { name: 'Log out' }).click();
  await expect(notification(page, '1 session logged out')).toBeVisible();
  await expect(otherPage.getByRole('textbox', { name: 'Password', exact: true })).toBeVisible();
  await home.restart('SIGKILL');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Security' })).toBeVisible();
  await otherPage.reload();
  await expect(otherPage.getByRole('textbox', { name: 'Password', exact: true })).toBeVisible();
  await other.close();
});

test('an API key is created, limited to its scopes, survives a restart, and is revoked', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  // For the invalid network.
  complaints.allow(/status of 400/);
  await page.goto('/settings/security/access');
  const keys = section(page, 'API keys');
  await keys.getByRole('button', { name: 'Create an API key' }).click();
  await dialog(page).getByLabel('Read').uncheck();
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await expect(dialog(page).getByRole('alert').first()).toBeVisible();
  await expect(dialog(page).getByLabel('Label')).toBeFocused();
  await dialog(page).getByLabel('Label').fill('backup script');
  await dialog(page).getByLabel('Read').check();
  await dialog(page).getByLabel('Expires').selectOption('In 30 days');
  await dialog(page).getByLabel('Allowed IP addresses').fill('not a network');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('Enter CIDR ranges');
  await dialog(page).getByLabel('Allowed IP addresses').fill('127.0.0.0/8\n::1/128');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  const key = await dialog(page).getByText(/^mk_/).innerText();
  await expect(dialog(page).getByText(`curl -H 'Authorization: Bearer ${key}' ${home.origin}/api/gon`)).toBeVisible();
  await dialog(page).getByLabel('I’ve saved it').check();
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

  await home.restart('SIGKILL');
  expect((await ask('/api/gon')).status).toBe(200);
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await page.reload();
  const row = keys.getByRole('listitem').filter({ hasText: 'backup script' });
  await expect(row).toContainText(key.slice(0, 11));
  await expect(row).toContainText('Read');
  await expect(row).toContainText('Only from 127.0.0.0/8, ::1/128');
  await row.getByRole('button', { name: /^Revoke/ }).click();
  await dialog(page).getByRole('button', { name: 'Revoke' }).click();
  await expect(keys.getByText('No API keys yet')).toBeVisible();
  expect((await ask('/api/gon')).status).toBe(401);
});

test('a key created from a preset is limited to its purpose', async ({ home, page, complaints }) => {
  complaints.allow(/status of 400/);
  await page.goto('/settings/security/access');
  const keys = section(page, 'API keys');
  await keys.getByRole('button', { name: 'Create an API key' }).click();
  await dialog(page).getByLabel('Label').fill('ingest script');
  await dialog(page).getByLabel('Preset').selectOption('Webhook administration');
  await expect(dialog(page).getByLabel('Write')).toBeChecked();
  const only = dialog(page).getByLabel('Limit to these calls');
  await expect(only).toHaveValue(/^webhooks\.\*$/m);
  await only.fill('webhooks.list\nno.such.method');
  await expect(dialog(page).getByLabel('Preset')).toHaveValue('');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await expect(dialog(page).getByRole('alert')).toBeVisible();
  await expect(only).toBeFocused();
  await only.fill('webhooks.list');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  const key = await dialog(page).getByText(/^mk_/).innerText();
  await expect(dialog(page).getByText(`curl -H 'Authorization: Bearer ${key}' ${home.origin}/api/auth/status`)).toBeVisible();
  await dialog(page).getByLabel('I’ve saved it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  const row = keys.getByRole('listitem').filter({ hasText: 'ingest script' });
  await expect(row).toContainText('Limited to webhooks.list');
  await expect(row).toContainText('in this session');
  const call = async (method: string) => {
    const response = await fetch(`${home.origin}/api/rpc`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 1, method }),
    });
    return ((await response.json()) as { error?: { data: { code: string } } }).error?.data.code;
  };
  expect(await call('webhooks.list')).toBeUndefined();
  expect(await call('sessions.list')).toBe('FORBIDDEN');
});

test('credentials that a key created are listed before it is revoked, and are revoked with it', async ({ home, page }) => {
  const made = (label: string, key: string | null) =>
    fetch(`${home.origin}/api/auth/api-keys`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === null ? { cookie: home.cookie } : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ label, scopes: ['operator.admin'] }),
    }).then((response) => response.json() as Promise<{ key: string }>);
  const { key } = await made('deploy', null);
  await made('deploy, second', key);
  await page.goto('/settings/security/access');
  const keys = section(page, 'API keys');
  await expect(keys.getByRole('listitem').filter({ hasText: 'by API key “deploy”' })).toContainText('deploy, second');
  await keys.getByRole('button', { name: /^Revoke ?: deploy$/ }).click();
  await expect(dialog(page).getByRole('listitem')).toHaveText(['deploy, second']);
  await dialog(page).getByRole('button', { name: 'Revoke' }).click();
  await expect(keys.getByText('No API keys yet')).toBeVisible();
});

test('logging out a session revokes what it created, unless the user keeps it', async ({ home, page, browser, complaints }) => {
  await page.goto('/settings/security');
  const access = await secondWindow(page);
  await access.goto('/settings/security/access');
  const sessions = section(page, 'Sessions');
  for (const kept of [true, false]) {
    const [other, otherPage] = await elsewhere(browser, home, complaints);
    const label = kept ? 'kept key' : 'lost key';
    const made = await other.request.post(`${home.origin}/api/auth/api-keys`, { data: { label, scopes: ['operator.read'] } });
    expect(made.status()).toBe(200);
    await page.reload();
    await access.reload();
    const row = section(access, 'API keys').getByRole('listitem').filter({ hasText: label });
    await expect(row).toContainText('in another session');
    await sessions.getByRole('button', { name: /^Log out ?: / }).first().click();
    await expect(dialog(page).getByRole('listitem')).toHaveText([label]);
    if (kept) await dialog(page).getByLabel('Keep the API keys and devices created there').check();
    await dialog(page).getByRole('button', { name: 'Log out' }).click();
    await expect(row).toHaveCount(kept ? 1 : 0);
    await otherPage.close();
    await other.close();
  }
});

test('an old confirmation is requested again, only for sensitive changes', async ({ home, page }) => {
  await confirmedLongAgo(home);
  await page.goto('/settings/security/options');
  const confirmation = section(page, 'Identity confirmation');
  await expect(confirmation.getByText('Not confirmed')).toBeVisible();
  await page.getByRole('link', { name: 'Keys and devices' }).click();
  const keys = section(page, 'API keys');
  await keys.getByRole('button', { name: 'Create an API key' }).click();
  await dialog(page).getByLabel('Label').fill('everything');
  await dialog(page).getByLabel('Admin').check();
  await expect(dialog(page).getByText('controls this gateway')).toBeVisible();
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await asked.getByRole('textbox', { name: 'Password', exact: true }).fill('wrong');
  await asked.getByRole('button', { name: 'Confirm', exact: true }).click();
  await expect(asked.getByRole('alert')).toBeVisible();
  // Without confirmation, nothing changes.
  await page.keyboard.press('Escape');
  await expect(dialog(page).getByRole('alert')).toContainText('Confirm with the password or a passkey');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await asked.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await asked.getByRole('button', { name: 'Confirm', exact: true }).click();
  await expect(dialog(page).getByText(/^mk_/)).toBeVisible();
  await dialog(page).getByLabel('I’ve saved it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await expect(keys.getByRole('listitem').filter({ hasText: 'everything' })).toContainText('Admin');
  await page.getByRole('link', { name: 'Options' }).click();
  await expect(confirmation.getByText('Confirmed', { exact: true })).toBeVisible();
});

test('a device is paired with a token, shown as connected, and revoked', async ({ home, page }) => {
  await page.goto('/settings/security/access');
  const devices = section(page, 'Paired devices');
  await devices.getByRole('button', { name: 'Pair a device' }).click();
  await dialog(page).getByLabel('Label').fill('kitchen tablet');
  await dialog(page).getByLabel('Preset').selectOption('Voice');
  await expect(dialog(page).getByLabel('Limit to these calls')).not.toHaveValue(/\//);
  await dialog(page).getByLabel('Expires').selectOption('In 30 days');
  await dialog(page).getByLabel('Allowed IP addresses').fill('127.0.0.0/8\n::1/128');
  await dialog(page).getByRole('button', { name: 'Pair', exact: true }).click();
  const token = await dialog(page).locator('code').first().innerText();
  await expect(dialog(page).getByRole('img', { name: 'QR code of the URL and the token' })).toBeVisible();
  await dialog(page).getByLabel('I’ve saved it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await expect(devices.getByText('Not connected')).toBeVisible();
  await expect(devices.getByRole('listitem')).toContainText('Limited to tts.*');
  await expect(devices.getByRole('listitem')).toContainText('Only from 127.0.0.0/8');
  await expect(devices.getByText('Never expires')).toHaveCount(0);
  const tablet = await connectDevice(page, home, token);
  expect(tablet.letIn).toBe(true);
  await page.reload();
  await expect(devices.getByText('Connected', { exact: true })).toBeVisible();
  await devices.getByRole('button', { name: /^Revoke/ }).click();
  await dialog(page).getByRole('button', { name: 'Revoke' }).click();
  await expect(devices.getByText('No paired devices')).toBeVisible();
  await tablet.leave();
  const refused = await connectDevice(page, home, token);
  expect(refused.letIn).toBe(false);
  await refused.leave();
});

test('all authentication is removed, the page explains the effects, and it is set up again', async ({ home, page }) => {
  const { key } = await home.call<{ key: string }>('POST', '/api/auth/api-keys', {
    label: 'x',
    scopes: ['operator.read'],
  });
  await page.goto('/settings/security/options');
  const removal = section(page, 'Remove all authentication');
  await expect(removal.getByText(/audit log are kept/)).toBeVisible();
  await removal.getByRole('button', { name: 'Remove everything' }).click();
  await expect(dialog(page).getByRole('button', { name: 'Remove everything' })).toBeDisabled();
  await dialog(page).getByLabel('Type remove all authentication to confirm').fill('remove all authentication');
  await dialog(page).getByRole('button', { name: 'Remove everything' }).click();
  await expect(page.getByRole('heading', { name: 'Authentication is off' })).toBeVisible();
  await expect(page.getByText('anyone who can reach this address gets in', { exact: false }).first()).toBeVisible();
  await expect(removal).toHaveCount(0);
  await page.getByRole('link', { name: 'Keys and devices' }).click();
  await expect(section(page, 'API keys').getByText('No API keys yet')).toBeVisible();
  const asked = await fetch(`${home.origin}/api/gon`, { headers: { authorization: `Bearer ${key}` } });
  expect(await asked.json()).toMatchObject({ auth_disabled: true, identity: { method: 'Loopback' } });
  await page.getByRole('link', { name: 'Login', exact: true }).click();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Set up authentication' }).click();
  await expect(page).toHaveURL(`${home.origin}/onboarding`);
  // Setup in another window ends access for every caller without a login.
  await page.goto('/settings/security');
  await expect(page.getByRole('heading', { name: 'Authentication is off' })).toBeVisible();
  const response = await fetch(`${home.origin}/api/auth/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ password: 'a password after all' }),
  });
  expect(response.status).toBe(200);
  await expect(page.getByRole('heading', { name: 'Authentication is off' })).toHaveCount(0);
  await expect(page.getByRole('textbox', { name: 'Password', exact: true })).toBeVisible();
});

test('the audit log describes each change, filters, and loads more', async ({ home, page }) => {
  await home.call('POST', '/api/auth/api-keys', { label: 'x', scopes: ['operator.read', 'operator.write'] });
  await home.rpc('env.set', { key: 'TOKEN', value: 'secret value' });
  await home.call('POST', '/api/auth/vault/seal');
  await home.call('POST', '/api/auth/vault/unlock', { password: PASSWORD });
  for (let at = 0; at < 60; at++) await home.rpc('config.set', { key: 'log.level', value: at % 2 ? 'info' : 'warn' });
  await page.goto('/settings/security');
  await page.getByRole('link', { name: 'Audit log' }).click();
  await expect(page.getByRole('heading', { name: 'Security', level: 1 })).toBeFocused();
  const rows = page.getByRole('list', { name: 'Audit log' }).locator('> li');
  await expect(rows).toHaveCount(50);
  await expect(rows.first()).toContainText('Setting changed: log.level = "info"');
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect(rows.filter({ hasText: 'Setup completed: with the password' })).toBeVisible();
  await expect(rows.filter({ hasText: 'API key created: x, Read, Write' })).toContainText('You (this session)');
  await expect(rows.filter({ hasText: 'Environment variable saved: TOKEN, encrypted' })).toBeVisible();
  await expect(rows.filter({ hasText: 'Vault sealed' })).toBeVisible();
  await expect(page.locator('main')).not.toContainText('secret value');
  await page.getByLabel('Show', { exact: true }).selectOption('Vault unlocked');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('Vault unlocked: with the password');
  await expect(page).toHaveURL(/kind=vault\.unsealed/);
  await rows.locator('summary').click();
  await expect(rows.locator('pre')).toContainText('"kind": "vault.unsealed"');
  await page.reload();
  await expect(rows).toHaveCount(1);
  await page.getByLabel('Show', { exact: true }).selectOption('Device revoked');
  await expect(page.getByText('No entries of this kind')).toBeVisible();
});

test('the audit log is found by actor and time, exported, and live', async ({ home, page }) => {
  const { key } = await home.call<{ key: string }>('POST', '/api/auth/api-keys', { label: 'script', scopes: ['operator.write', 'operator.read'] });
  const byKey = (name: string) =>
    fetch(`${home.origin}/api/rpc`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 1, method: 'env.set', params: { key: name, value: 'x' } }),
    });
  await byKey('FIRST');
  await home.rpc('env.set', { key: 'MINE', value: 'x' });
  await page.goto('/settings/security/audit-log');
  const rows = page.getByRole('list', { name: 'Audit log' }).locator('> li');
  await expect(rows.filter({ hasText: 'MINE' })).toBeVisible();
  await page.getByLabel('Actor').selectOption('API key script');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('FIRST');
  await page.reload();
  await expect(rows).toHaveCount(1);
  // A change by the same actor appears without a reload.
  await byKey('SECOND');
  await expect(rows.first()).toContainText('SECOND');
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
  const events = JSON.parse(readFileSync((await file.path()) ?? '', 'utf8')) as { detail: { key: string } }[];
  expect(events.map((event) => event.detail.key)).toEqual(['SECOND', 'FIRST']);
  await page.getByLabel('Time').selectOption('Last hour');
  await expect(rows).toHaveCount(2);
  await page.goto('/settings/security/audit-log?from=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z');
  await expect(page.getByText('No entries of this kind')).toBeVisible();
  await page.getByRole('button', { name: 'Show all' }).click();
  await expect(rows.filter({ hasText: 'MINE' })).toBeVisible();
});

test('the audit log of each session and key is found, also after its end', async ({ home, page, browser, complaints }) => {
  const { id, key } = await home.call<{ id: string; key: string }>('POST', '/api/auth/api-keys', {
    label: 'script',
    scopes: ['operator.write', 'operator.read'],
  });
  await fetch(`${home.origin}/api/rpc`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 1, method: 'env.set', params: { key: 'BY_KEY', value: 'x' } }),
  });
  await home.call('DELETE', `/api/auth/api-keys/${id}`);
  const others: BrowserContext[] = [];
  for (const name of ['FIRST', 'SECOND']) {
    const [other] = await elsewhere(browser, home, complaints);
    const set = { id: 1, method: 'env.set', params: { key: name, value: 'x' } };
    expect((await other.request.post(`${home.origin}/api/rpc`, { data: set })).status()).toBe(200);
    others.push(other);
  }
  await page.goto('/settings/security/audit-log');
  const rows = page.getByRole('list', { name: 'Audit log' }).locator('> li');
  const row = (name: string) => rows.filter({ hasText: name });
  const link = row('FIRST').getByRole('link', { name: /^Session Chrome on Linux, / });
  await link.focus();
  await page.keyboard.press('Enter');
  await expect(row('SECOND')).toHaveCount(0);
  await expect(row('FIRST')).toBeVisible();
  await expect(link).toBeFocused();
  await expect(page).toHaveURL(/actor=session\+as_/);
  await page.goBack();
  await expect(row('SECOND')).toBeVisible();
  // Ended sessions are named by the end of their ID.
  await page.goto('/settings/security');
  await section(page, 'Sessions').getByRole('button', { name: 'Log out all others' }).click();
  await dialog(page).getByRole('button', { name: 'Log out' }).click();
  await expect(notification(page, '2 sessions logged out')).toBeVisible();
  await page.goto('/settings/security/audit-log');
  const [first, second] = [row('FIRST'), row('SECOND')].map((one) => one.getByRole('link', { name: /^Session …/ }));
  await expect(first!).toBeVisible();
  expect(await first!.innerText()).not.toBe(await second!.innerText());
  await first!.click();
  await expect(row('SECOND')).toHaveCount(0);
  await page.getByLabel('Actor').selectOption('API key script');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('BY_KEY');
  for (const other of others) await other.close();
});

test('public links are listed with those of archived conversations, and revoked', async ({ home, page }) => {
  const share = async (label: string, archived: boolean) => {
    const { id } = await home.rpc<{ id: string }>('sessions.create', { label });
    const { share_id } = await home.rpc<{ share_id: string }>('sessions.share', { id });
    if (archived) await home.rpc('sessions.update', { id, archived });
    return `${home.origin}/share/${share_id}`;
  };
  await page.goto('/settings/security/access');
  const links = section(page, 'Public links');
  await expect(links.getByText('No public links')).toBeVisible();
  await home.rpc('sessions.create', { label: 'Private' });
  const [open, archived] = [await share('Garden', false), await share('Old plans', true)];
  const rows = links.getByRole('listitem');
  await expect(rows).toHaveCount(2);
  const old = rows.filter({ hasText: 'Old plans' });
  await expect(old.getByText('Archived', { exact: true })).toBeVisible();
  await expect(old.getByRole('link', { name: /^Open link/ })).toHaveAttribute('href', new URL(archived).pathname);
  expect(await violations(page)).toEqual([]);
  expect((await fetch(archived)).status).toBe(200);
  await old.getByRole('button', { name: /^Revoke/ }).click();
  await dialog(page).getByRole('button', { name: 'Revoke' }).click();
  await expect(notification(page, 'The link no longer works.')).toBeVisible();
  await expect(rows).toHaveCount(1);
  expect((await fetch(archived)).status).toBe(404);
  expect((await fetch(open)).status).toBe(200);
  await rows.getByRole('link', { name: 'Garden', exact: true }).click();
  await expect(page).toHaveURL(/\/chat\/ses_/);
});

test('accessibility in both themes, no horizontal scroll, and keyboard-only use', async ({ home, page }) => {
  await home.call('POST', '/api/auth/api-keys', { label: 'a key', scopes: ['operator.admin'] });
  await home.rpc('pairing.create', { label: 'a device' });
  for (const path of ['/settings/security/access', '/settings/security/audit-log']) {
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
  // Keyboard only: creating a key returns the focus to where it was.
  await page.goto('/settings/security/access');
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
  for (let at = 0; at < 6 && !reached.includes('I’ve saved it'); at++) {
    await page.keyboard.press('Tab');
    reached.push(
      await page.evaluate(() => (document.activeElement as HTMLInputElement | null)?.labels?.[0]?.textContent ?? ''),
    );
  }
  await page.keyboard.press('Space');
  await dialog(page).getByRole('button', { name: 'Done' }).press('Enter');
  await expect(create).toBeFocused();
});
