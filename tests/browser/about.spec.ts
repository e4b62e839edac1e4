// Settings → About: version and health checks, local or remote, and all settings with their sources.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { violations } from './fixtures/axe';
import { confirmedLongAgo } from './fixtures/security';
import { expect, PASSWORD, secondWindow, test } from './fixtures/test';
import { make } from './fixtures/webhook';

test.describe('settings', () => {
  test.use({ environment: { SERVICE_LOG__LEVEL: 'info' } });

  test('settings: search, change, invalid values, undo, revert, fixed values, and the restart notice', async ({ home, page }) => {
    const other = await secondWindow(page);
    await other.goto('/settings/system/settings');
    await page.goto('/settings/system/settings');
    const settings = page.getByRole('region', { name: 'All settings' });
    await page.getByLabel('Search settings').fill('webhooks.retention');
    await expect(settings.getByRole('listitem')).toHaveCount(1);
    await settings.getByRole('button', { name: 'Change webhooks.retention_days' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change a setting' });
    // The description, the range, the unit and the default of the setting.
    await expect(dialog).toContainText(/Days .*deliveries/i);
    for (const part of ['1 to 3,650 days', 'Default: 30 days']) await expect(dialog).toContainText(part);
    await dialog.getByLabel('Value').fill('0');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog.getByLabel('Value')).toHaveAttribute('aria-invalid', 'true');
    await dialog.getByLabel('Value').fill('77');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(settings.getByText('Changed here')).toBeVisible();
    await expect(settings.getByText('77 days', { exact: true })).toBeVisible();
    await other.getByLabel('Search settings').fill('webhooks.retention');
    await expect(other.getByRole('region', { name: 'All settings' }).getByText('77 days', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(settings.getByText('Changed here')).toHaveCount(0);

    await home.rpc('config.set', { key: 'webhooks.retention_days', value: 55 });
    await expect(settings.getByText('55 days', { exact: true })).toBeVisible();
    await settings.getByRole('button', { name: 'Change webhooks.retention_days' }).click();
    await dialog.getByRole('button', { name: 'Revert' }).click();
    await expect(settings.getByText('55 days', { exact: true })).toHaveCount(0);
    await expect(dialog).toBeHidden();

    await page.getByLabel('Search settings').fill('log.level');
    await expect(settings.getByText('Environment', { exact: true })).toBeVisible();
    await expect(settings.getByRole('button', { name: 'Change log.level' })).toHaveCount(0);

    await page.getByLabel('Search settings').fill('server.max_message');
    await settings.getByRole('button', { name: 'Change server.max_message_bytes' }).click();
    await expect(dialog).toContainText('A change takes effect after the gateway is restarted.');
    await dialog.getByLabel('Value').fill('1000000');
    await dialog.getByRole('button', { name: 'Save' }).click();
    // The notice names the setting on every page of the system, until the change is reverted.
    const notice = page.getByRole('status').filter({ hasText: 'take effect after a restart' });
    await expect(notice).toContainText('server.max_message_bytes');
    await expect(dialog).toBeHidden();
    await page.goto('/overview');
    await page.goto('/settings/system');
    await expect(notice).toContainText('server.max_message_bytes');
    await expect(other.getByRole('status').filter({ hasText: 'take effect after a restart' })).toBeVisible();
    await page.getByRole('link', { name: 'All settings' }).click();
    await page.getByLabel('Search settings').fill('server.max_message');
    await settings.getByRole('button', { name: 'Change server.max_message_bytes' }).click();
    await dialog.getByRole('button', { name: 'Revert' }).click();
    await expect(notice).toHaveCount(0);

    await page.getByLabel('Search settings').fill('auth.vault_enabled');
    await settings.getByRole('button', { name: 'Change auth.vault_enabled' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog.getByRole('alert')).toBeVisible();
  });
});

test('version, health checks before and after a restart, locality, appearance and API documents', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/settings/system');
  const { version } = await home.rpc<{ version: string }>('system.status');
  await expect(page.getByText(version, { exact: true })).toBeVisible();
  const doctor = page.getByRole('list', { name: 'Health checks' });
  await expect(doctor.getByText('The vault is unlocked.')).toBeVisible();
  await expect(doctor.getByText('No backups are scheduled, and the directory contains none.')).toBeVisible();
  await expect(page.getByText('This browser runs on the same machine')).toBeVisible();
  await page.getByLabel('Theme', { exact: true }).selectOption('dark');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByLabel('Theme', { exact: true }).selectOption('system');

  await home.rpc('config.set', { key: 'server.max_message_bytes', value: 1_000_000 });
  const notice = page.getByRole('status').filter({ hasText: 'take effect after a restart' });
  await expect(notice).toContainText('server.max_message_bytes');
  await home.restart();
  await expect(notice).toHaveCount(0);
  await expect(doctor.getByText('The vault is sealed; stored secrets cannot be read.')).toBeVisible();
  await expect(doctor.getByRole('listitem').first()).toContainText('Problem:');
  await home.call('POST', '/api/auth/vault/unlock', { password: 'correct horse battery staple' });
  await page.getByRole('button', { name: 'Run again' }).click();
  await expect(doctor.getByText('The vault is unlocked.')).toBeVisible();

  for (const document of ['openapi', 'openrpc']) {
    const answer = await page.request.get(`/api/${document}.json`);
    expect(answer.status()).toBe(200);
  }
  await expect(page.getByRole('link', { name: 'OpenAPI document' })).toHaveAttribute('href', '/api/openapi.json');
});

test('a mistake in a profile file is reported, and the webhooks that miss their profile are named', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  const folder = join(home.directory, 'profiles');
  const profile = "id = 'acme'\nname = 'Acme'\nabout = 'Orders'\nverify = { mode = 'bearer' }\n";
  mkdirSync(folder);
  writeFileSync(join(folder, 'acme.toml'), profile);
  await expect
    .poll(async () => (await home.rpc<{ profiles: { id: string }[] }>('webhooks.profiles')).profiles.map(({ id }) => id))
    .toContain('acme');
  const webhook = await make(home, { name: 'Shop', source_profile: 'acme', deliver_only: true });
  await page.goto('/settings/system');
  const check = page.getByRole('list', { name: 'Health checks' }).getByRole('listitem').filter({ hasText: 'Profiles in files' });
  await expect(check).toContainText('Every profile file is in use.');

  // A file that was read before its mistake remains in use.
  writeFileSync(join(folder, 'acme.toml'), profile.replace('about', 'abuot'));
  await expect(async () => {
    await page.getByRole('button', { name: 'Run again' }).click();
    await expect(check).toContainText('profiles/acme.toml:3: unknown field `abuot`', { timeout: 1000 });
  }).toPass();
  const headers = { authorization: `Bearer ${webhook.secret}`, 'content-type': 'application/json' };
  const deliver = async () => (await fetch(webhook.url, { method: 'POST', headers, body: '{}' })).status;
  expect(await deliver()).toBe(202);

  // After a restart, its profile is missing. The restart seals the vault.
  await home.restart();
  await home.call('POST', '/api/auth/vault/unlock', { password: PASSWORD });
  expect(await deliver()).toBe(503);
  await page.goto('/deliveries');
  await page.locator('[data-id]').filter({ hasText: 'Rejected' }).click();
  await expect(page.getByText('The file of this webhook’s profile is missing or has a mistake.').last()).toBeVisible();
  await page.goto('/settings/system');
  await expect(check).toContainText('Shop');
  expect(await violations(page)).toEqual([]);
});

test.describe('behind a proxy', () => {
  test.use({ environment: { SERVICE_BEHIND_PROXY: 'true' } });

  test('explains why the connection is remote and what to change', async ({ gateway, page, context }) => {
    await gateway.call('POST', '/api/auth/setup', { password: 'correct horse battery staple', setup_code: gateway.setupCode });
    const [name = '', value = ''] = gateway.cookie.split('=');
    await context.addCookies([{ name, value, url: gateway.origin, httpOnly: true, sameSite: 'Strict' }]);
    await page.goto('/settings/system');
    await expect(page.getByText('The gateway is configured to run behind a proxy')).toBeVisible();
    await expect(page.getByText('unset SERVICE_BEHIND_PROXY')).toBeVisible();
  });
});

test('a forwarding header makes the connection remote, and the page explains it', async ({ home, page, context }) => {
  await context.setExtraHTTPHeaders({ 'x-forwarded-for': '203.0.113.9' });
  await page.goto('/settings/system');
  await expect(page.getByText('Your request carries a header that proxies add')).toBeVisible();
  expect(home.port).toBeGreaterThan(0);
});

test('keyboard-only use, accessibility in both themes, and no horizontal scroll at 320 px', async ({ home, page }) => {
  await page.goto('/settings/system/settings');
  await page.getByLabel('Search settings').focus();
  await page.keyboard.type('models.autodetect');
  await page.getByRole('button', { name: 'Change models.autodetect' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('Value').focus();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Changed here')).toBeVisible();
  const { values } = await home.rpc<{ values: { value: unknown }[] }>('config.get', { keys: ['models.autodetect'] });
  expect(values[0]?.value).toBe(false);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
});

test('settings are in groups, which open on request and when the list is narrowed', async ({ home: _, page }) => {
  await page.goto('/settings/system/settings');
  const retention = page.getByText('webhooks.retention_days', { exact: true });
  await expect(page.getByText('Telemetry', { exact: true })).toBeVisible();
  await expect(retention).toBeHidden();
  await page.getByRole('heading', { level: 3, name: 'Webhooks' }).click();
  await expect(retention).toBeVisible();
  await page.getByLabel('Search settings').fill('server.max_message_bytes');
  await expect(page.getByText(/^[\d,]+ bytes \(36 MiB\)$/).first()).toBeVisible();
});

test('a backup is made and listed, and restored on trial although it is encrypted', async ({ home, page }) => {
  await page.goto('/settings/system');
  await page.getByRole('navigation', { name: 'Sections of the system' }).getByRole('link', { name: 'Backups' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'System' })).toBeFocused();
  const backups = page.getByRole('region', { name: 'Backups' });
  await backups.getByRole('button', { name: 'Show backups' }).click();
  await expect(backups.getByText('There are no backups yet.')).toBeVisible();
  const unencrypted = backups.getByText('Without a passphrase, the backup is not encrypted');
  await expect(unencrypted).toBeVisible();
  await backups.getByLabel('Passphrase optional', { exact: true }).fill('a passphrase');
  await expect(unencrypted).toHaveCount(0);
  await backups.getByRole('button', { name: 'Back up now' }).click();
  const entry = backups.getByRole('list', { name: 'Backups' }).getByRole('listitem');
  await expect(entry).toContainText('.backup.age');
  await expect(backups.getByText('gatehouse backup verify FILE')).toBeVisible();
  await expect(entry).toContainText('Encrypted');
  await expect(backups.getByLabel('Passphrase optional', { exact: true })).toHaveValue('');
  const listed = async () => (await home.rpc<{ backups: { checked?: { result: string } }[] }>('backup.list')).backups;
  expect(await listed()).toHaveLength(1);
  await expect.poll(async () => (await listed())[0]?.checked?.result, { timeout: 40_000 }).toBe('restored');
  await page.reload();
  await backups.getByRole('button', { name: 'Show backups' }).click();
  await expect(entry).toContainText('Trial restore succeeded:');
  expect(await violations(page)).toEqual([]);
  await page.goto('/settings/system');
  const checks = page.getByRole('list', { name: 'Health checks' }).getByRole('listitem');
  await expect(checks.filter({ hasText: 'whether your identity or passphrase decrypts a backup' })).toBeVisible();
});

test('a backup is downloaded after a confirmation, and the server stores none', async ({ home, page }) => {
  await confirmedLongAgo(home);
  // Unlike the password, the recovery key confirms nothing.
  await home.call('POST', '/api/auth/vault/recovery', { recovery_key: home.recoveryKey });
  // Like browsers that cannot write to a file.
  await page.addInitScript(() => Object.defineProperty(window, 'showSaveFilePicker', { value: undefined }));
  await page.goto('/settings/system/backups');
  const backups = page.getByRole('region', { name: 'Backups' });
  const passphrase = backups.getByLabel('Passphrase optional', { exact: true });
  const download = backups.getByRole('button', { name: 'Download a backup' });
  await passphrase.fill('open sesame');
  await download.click();
  const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await expect(asked).toBeVisible();
  // Without confirmation, nothing is downloaded.
  await page.keyboard.press('Escape');
  await expect(backups.getByRole('alert')).toContainText('Confirm with the password or a passkey');

  await download.click();
  await asked.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  const downloading = page.waitForEvent('download');
  await asked.getByRole('button', { name: 'Confirm', exact: true }).click();
  const file = await downloading;
  expect(file.suggestedFilename()).toMatch(/^gatehouse-\d{8}T\d{6}Z\.backup\.age$/);
  expect(readFileSync(await file.path(), 'latin1').split('\n', 1)).toEqual(['age-encryption.org/v1']);
  const toasts = page.getByRole('region', { name: 'Notifications' });
  await expect(toasts.getByText(`Backup ${file.suggestedFilename()} downloaded`)).toBeVisible();
  await expect(passphrase).toHaveValue('');
  await expect(backups.getByRole('alert')).toHaveCount(0);
  await backups.getByRole('button', { name: 'Show backups' }).click();
  await expect(backups.getByText('There are no backups yet.')).toBeVisible();
  expect(await violations(page)).toEqual([]);
});

test('a backup is written to the file that the user chooses, unless it is refused or canceled', async ({ home: _, page }) => {
  // The dialog of the browser cannot be operated here. This file is real.
  await page.addInitScript(() => {
    const choose = async ({ suggestedName }: { suggestedName: string }) =>
      (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true });
    Object.defineProperty(window, 'showSaveFilePicker', { value: choose });
  });
  const url = '**/api/backup/stream';
  await page.route(url, (route) =>
    route.fulfill({ status: 409, json: { code: 'CONFLICT', error: 'Another backup is being sent.' } }),
  );
  await page.goto('/settings/system/backups');
  const backups = page.getByRole('region', { name: 'Backups' });
  const download = backups.getByRole('button', { name: 'Download a backup' });
  await download.click();
  await expect(backups.getByRole('alert')).toContainText('Another backup is being sent.');
  const files = () =>
    page.evaluate(async () => {
      const found: { name: string; bytes: number }[] = [];
      for await (const one of (await navigator.storage.getDirectory()).values()) {
        if (one instanceof FileSystemFileHandle) found.push({ name: one.name, bytes: (await one.getFile()).size });
      }
      return found;
    });
  expect(await files()).toEqual([]);

  // The request waits until it is canceled.
  await page.unroute(url);
  await page.route(url, () => undefined);
  await download.click();
  await expect(backups.getByText('0 bytes downloaded')).toBeVisible();
  await backups.getByRole('button', { name: 'Cancel the download' }).click();
  await expect(backups.getByRole('button', { name: 'Cancel the download' })).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 2, name: 'Backups' })).toBeFocused();
  await expect(backups.getByRole('alert')).toHaveCount(0);
  expect(await files()).toEqual([]);

  await page.unroute(url);
  await download.click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText(/^Backup gatehouse-.* downloaded$/)).toBeVisible();
  const [file, ...others] = await files();
  expect(others).toEqual([]);
  expect(file?.name).toMatch(/^gatehouse-\d{8}T\d{6}Z\.backup$/);
  expect(file?.bytes).toBeGreaterThan(1000);
});

test('the documentation is searched, and a result leads to its section', async ({ home: _, page }) => {
  await page.goto('/docs');
  const search = page.getByRole('searchbox', { name: 'Search the documentation' });
  await search.fill('scheduled backups');
  await search.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Search' })).toBeVisible();
  await expect(search).toHaveValue('scheduled backups');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('link', { name: 'Scheduled backups', exact: true }).click();
  await expect(page).toHaveURL(/\/docs\/OPERATIONS#scheduled-backups$/);
  await expect(page.getByRole('heading', { name: 'Scheduled backups', exact: true })).toBeInViewport();
});

test('backups are scheduled, what is wrong is said at its field, and the schedule is the last to be saved', async ({ home, page }) => {
  const stored = async () => {
    const { values } = await home.rpc<{ values: { key: string; value: unknown }[] }>('config.get', { keys: ['backup'] });
    return Object.fromEntries(values.map(({ key, value }) => [key, value]));
  };
  await page.goto('/settings/system/backups');
  const card = page.getByRole('region', { name: 'Schedule and storage' });
  const schedule = card.getByLabel('Schedule', { exact: true });
  const save = card.getByRole('button', { name: 'Save' });
  await expect(card.getByText('Backups are created only on request.')).toBeVisible();
  await schedule.selectOption('Custom cron pattern');
  await save.click();
  const pattern = card.getByLabel('Cron pattern');
  await expect(pattern).toHaveAccessibleDescription('Enter a cron pattern.');
  await pattern.fill('61 3 * * *');
  await save.click();
  await expect(pattern).toHaveAttribute('aria-invalid', 'true');
  await expect(pattern).not.toHaveAccessibleDescription('Enter a cron pattern.');

  await schedule.selectOption('Every day at 03:30');
  await expect(pattern).toHaveCount(0);
  const keep = card.getByLabel('Backups to keep');
  await keep.fill('0');
  await save.click();
  await expect(keep).toHaveAttribute('aria-invalid', 'true');
  expect(await stored()).toMatchObject({ 'backup.schedule': null, 'backup.keep': 14 });
  await keep.fill('7');
  await card.getByLabel(/^Directory/).fill('copies');
  await save.click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('Backup settings saved')).toBeVisible();
  await expect(card.getByText('Backups are created on a schedule.')).toBeVisible();
  expect(await stored()).toMatchObject({ 'backup.schedule': '30 3 * * *', 'backup.to': 'copies', 'backup.keep': 7 });
  expect(await violations(page)).toEqual([]);

  await page.reload();
  await expect(keep).toHaveValue('7');
  await expect(schedule).toHaveValue('daily');
  await schedule.selectOption('Off');
  await save.click();
  await expect(card.getByText('Backups are created only on request.')).toBeVisible();
  expect(await stored()).toMatchObject({ 'backup.schedule': null, 'backup.to': 'copies' });

  // The field of a stored pattern stays while the user clears it.
  await home.rpc('config.set', { key: 'backup.schedule', value: '0 4 * * *' });
  await expect(pattern).toHaveValue('0 4 * * *');
  await pattern.fill('');
  await save.click();
  await expect(pattern).toHaveAccessibleDescription('Enter a cron pattern.');
  await pattern.fill('30 3 * * *');
  await save.click();
  await expect(schedule).toHaveValue('daily');

  // With a recipient, a backup without a passphrase is encrypted.
  const unencrypted = page.getByRole('region', { name: 'Backups' }).getByText('the backup is not encrypted');
  await expect(unencrypted).toBeVisible();
  const recipient = 'age1slgc7ysft3t0226a4zjmpjmlvwuc6la8hjmj86qhhtdnxfext3wqhpgu3d';
  await home.rpc('config.set', { key: 'backup.recipient', value: recipient });
  await expect(unencrypted).toHaveCount(0);
});
