// Settings → Environment and SSH keys: write-only values, with the vault unlocked or sealed, after a restart, in two windows.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { holdFirst } from './fixtures/hold';
import { useHttp } from './fixtures/refuse';
import { expect, PASSWORD, secondWindow, test } from './fixtures/test';

const variables = (page: Page) => page.getByRole('list', { name: 'Variables' });

async function setVariable(page: Page, key: string, value: string) {
  await page.getByRole('button', { name: 'Add variable' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add variable' });
  await dialog.getByLabel('Name').fill(key);
  await dialog.getByLabel('Value', { exact: true }).fill(value);
  await dialog.getByRole('button', { name: /^(Add variable|Replace)$/ }).click();
  return dialog;
}

test('a list that becomes short in a period keeps the choice of the period, and its focus', async ({ home, page }) => {
  for (let count = 1; count <= 6; count++) await home.rpc('env.set', { key: `KEY_${count}`, value: 'x' });
  await page.goto('/vault/environment');
  const time = page.getByLabel('Time', { exact: true });
  await time.selectOption('Last hour');
  await page.getByRole('button', { name: 'Actions for KEY_1' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Delete variable' }).getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(variables(page).getByRole('listitem')).toHaveCount(5);
  await time.focus();
  await time.selectOption('Any time');
  await expect(time).toBeFocused();
  await expect(time).toHaveValue('');
});

test('a variable is added, replaced and deleted, and its value is never shown', async ({ home, page }) => {
  await page.goto('/vault/environment');
  await expect(page.getByText('No variables yet')).toBeVisible();
  await setVariable(page, 'MY_TOKEN', 'value-one');
  await expect(variables(page).getByText('MY_TOKEN', { exact: true })).toBeVisible();
  await expect(variables(page).getByText('Encrypted')).toBeVisible();

  await page.getByRole('button', { name: 'Actions for MY_TOKEN' }).click();
  await page.getByRole('menuitem', { name: 'Replace' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replace MY_TOKEN' });
  await expect(dialog.getByLabel('Value', { exact: true })).toHaveValue('');
  await dialog.getByLabel('Value', { exact: true }).fill('value-two');
  await dialog.getByRole('button', { name: 'Replace', exact: true }).click();
  await expect(dialog).toBeHidden();
  expect(await page.content()).not.toMatch(/value-(one|two)/);

  await page.getByRole('button', { name: 'Actions for MY_TOKEN' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const confirm = page.getByRole('dialog', { name: 'Delete variable' });
  await confirm.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByText('No variables yet')).toBeVisible();
  expect((await home.rpc<{ env_variables: unknown[] }>('env.list')).env_variables).toEqual([]);
});

test('a value is generated, or read from a file', async ({ home, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const storedAs = async (key: string) => {
    const { variables } = await home.rpc<{ variables: { value: string }[] }>('env.reveal', { only: [key], program: 'test' });
    return variables[0]?.value;
  };
  await page.goto('/vault/environment');
  await page.getByRole('button', { name: 'Add variable' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add variable' });
  const value = dialog.getByLabel('Value', { exact: true });
  const save = dialog.getByRole('button', { name: 'Add variable' });
  await dialog.getByLabel('Name').fill('SIGNING_KEY');
  await dialog.getByRole('button', { name: 'Generate a value' }).click();
  await expect(value).toHaveAttribute('type', 'password');
  await dialog.getByRole('button', { name: 'Copy value' }).click();
  await expect(dialog.getByRole('button', { name: 'Copied' })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^[\w-]{43}$/);
  expect(await violations(page)).toEqual([]);
  await save.click();
  await expect(dialog).toBeHidden();
  expect(await storedAs('SIGNING_KEY')).toBe(copied);

  await page.getByRole('button', { name: 'Add variable' }).first().click();
  await expect(value).toHaveValue('');
  await expect(dialog.getByRole('button', { name: 'Copy value' })).toHaveCount(0);
  await dialog.getByLabel('Name').fill('ACCOUNT');
  const file = dialog.getByLabel('Read a file');
  const choose = (buffer: Buffer) => file.setInputFiles({ name: 'account.json', mimeType: 'application/json', buffer });
  await choose(Buffer.alloc(65_537, 'x'));
  await expect(dialog.getByText('Choose a file of up to 64 KiB.')).toBeVisible();
  await choose(Buffer.from([0x61, 0xff]));
  await expect(dialog.getByText('Choose a text file.')).toBeVisible();
  const account = '{\n  "type": "service_account"\n}\n';
  await choose(Buffer.from(account));
  await expect(dialog.getByText('Choose a text file.')).toHaveCount(0);
  await expect(value).toHaveValue(account);
  await save.click();
  await expect(dialog).toBeHidden();
  expect(await storedAs('ACCOUNT')).toBe(account);
});

test('a variable is allowed in requests to hosts, and other variables keep theirs', async ({ home, page }) => {
  const secrets = async () => (await home.rpc<{ values: { value: string[] }[] }>('config.get', { keys: ['tools.secrets'] })).values[0]?.value;
  await home.rpc('env.set', { key: 'MY_TOKEN', value: 'value-one' });
  await home.rpc('config.set', { key: 'tools.secrets', value: ['OTHER:b.example'] });
  await page.goto('/vault/environment');
  const row = variables(page).getByRole('listitem').filter({ hasText: 'MY_TOKEN' });
  const dialog = page.getByRole('dialog', { name: 'Allow MY_TOKEN in requests' });
  const open = async () => {
    await page.getByRole('button', { name: 'Actions for MY_TOKEN' }).click();
    await page.getByRole('menuitem', { name: 'Allow in requests' }).click();
  };
  await open();
  await expect(dialog.getByText('{{secret:MY_TOKEN}}')).toBeVisible();
  await dialog.getByLabel('Hosts').fill('https://api.example.com/v1');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert')).toHaveText(/^Enter one host per line/);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), colorScheme).toEqual([]);
  }
  await dialog.getByLabel('Hosts').fill('API.example.com\nlocalhost:8443');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(row.getByText('Agents can use it in requests to: api.example.com, localhost:8443')).toBeVisible();
  expect(await secrets()).toEqual(['OTHER:b.example', 'MY_TOKEN:api.example.com', 'MY_TOKEN:localhost:8443']);

  await page.goto('/vault/stored');
  const stored = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'MY_TOKEN', exact: true }) });
  await expect(stored.getByRole('link', { name: 'requests to api.example.com', exact: true })).toBeVisible();

  await page.goto('/vault/environment');
  await page.getByRole('button', { name: 'Actions for MY_TOKEN' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const deletion = page.getByRole('dialog', { name: 'Delete variable' });
  await expect(deletion).toContainText('could be sent to api.example.com, localhost:8443 too');
  await deletion.getByRole('button', { name: 'Cancel' }).click();
  await open();
  await expect(dialog.getByLabel('Hosts')).toHaveValue('api.example.com\nlocalhost:8443');
  await dialog.getByLabel('Hosts').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(row.getByText('Agents can use it in requests to:')).toHaveCount(0);
  expect(await secrets()).toEqual(['OTHER:b.example']);
});

test('an invalid name is reported at its field, which gets the focus', async ({ home, page }) => {
  await page.goto('/vault/environment');
  const dialog = await setVariable(page, 'PATH', 'x');
  await expect(dialog.getByText('This name is reserved.')).toBeVisible();
  await expect(dialog.getByLabel('Name')).toBeFocused();
  await expect(dialog.getByLabel('Name')).toHaveAttribute('aria-invalid', 'true');
  await dialog.getByLabel('Name').fill('NOT_PATH');
  await dialog.getByRole('button', { name: 'Add variable' }).click();
  await expect(variables(page).getByText('NOT_PATH', { exact: true })).toBeVisible();
  expect(home.log).not.toContain('panicked');
});

test('a pasted block sets several variables and lists the refused ones', async ({ home, page }) => {
  await home.rpc('env.set', { key: 'OLD', value: 'x' });
  await page.goto('/vault/environment');
  await page.getByRole('button', { name: 'Paste .env' }).click();
  const dialog = page.getByRole('dialog', { name: 'Paste variables' });
  await dialog.getByLabel('Lines of KEY=value').fill('# comment\nexport A=1\nOLD="two words"\nLD_PRELOAD=x\nnonsense');
  const found = dialog.getByRole('list', { name: 'Variables found' });
  await expect(found.getByRole('listitem').filter({ hasText: 'OLD' })).toContainText('Overwrites');
  await expect(dialog.getByText('lines 5')).toBeVisible();
  await dialog.getByRole('button', { name: 'Save 3 variables' }).click();
  await expect(found.getByRole('listitem').filter({ hasText: 'LD_PRELOAD' })).toContainText('reserved');
  await page.keyboard.press('Escape');
  await expect(variables(page).getByRole('listitem')).toHaveCount(2);
});

test('while a variable is saved, its value cannot change', async ({ home, page }) => {
  await useHttp(page);
  await page.goto('/vault/environment');
  await page.getByRole('button', { name: 'Add variable' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add variable' });
  await dialog.getByLabel('Name').fill('SIGNING_KEY');
  await dialog.getByRole('button', { name: 'Generate a value' }).click();
  const value = dialog.getByLabel('Value', { exact: true });
  const generated = await value.inputValue();
  const release = await holdFirst(page, 'env.set');
  await dialog.getByRole('button', { name: 'Add variable' }).click();
  await expect(dialog.getByRole('button', { name: 'Add variable' })).toHaveAttribute('aria-busy', 'true');
  await dialog.getByRole('button', { name: 'Generate a value' }).click({ force: true });
  await dialog.getByLabel('Read a file').setInputFiles({ name: 'a', mimeType: 'text/plain', buffer: Buffer.from('other') });
  await value.press('x');
  await expect(value).toHaveValue(generated);
  await release('The name is reserved.');
  // After a refusal it can.
  await expect(dialog.getByRole('alert')).toContainText('The name is reserved.');
  await expect(value).toHaveValue(generated);
  await dialog.getByRole('button', { name: 'Generate a value' }).click();
  await expect(value).not.toHaveValue(generated);
  expect((await home.rpc<{ env_variables: unknown[] }>('env.list')).env_variables).toEqual([]);
});

test('a second window follows; after a restart the vault is sealed, and new values stay plaintext until it is unlocked', async ({
  home,
  page,
  complaints,
}) => {
  complaints.allowDowntime();
  const other = await secondWindow(page);
  await other.goto('/vault/environment');
  await expect(other.getByText('No variables yet')).toBeVisible();
  await page.goto('/vault/environment');
  await setVariable(page, 'FIRST', '1');
  await expect(variables(other).getByText('FIRST', { exact: true })).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(variables(page).getByText('FIRST', { exact: true })).toBeVisible();

  // A restart while typing keeps the input.
  await page.getByRole('button', { name: 'Add variable' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add variable' });
  await dialog.getByLabel('Name').fill('SECOND');
  await dialog.getByLabel('Value', { exact: true }).fill('2');
  await home.restart();
  await expect(page.getByText('New values are stored unencrypted')).toBeVisible();
  await expect(page.getByText('Live', { exact: true })).toBeAttached();
  await dialog.getByRole('button', { name: 'Add variable' }).click();
  const second = variables(page).getByRole('listitem').filter({ hasText: 'SECOND' });
  await expect(second).toContainText('Plaintext');
  // Only the banner unlocks.
  await page.getByRole('button', { name: 'Unlock' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock', exact: true }).click();
  await expect(second).toContainText('Encrypted');
});

test('SSH keys: generate, validate, import with a passphrase, copy, download, delete', async ({ home, page }) => {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-key-'));
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'open sesame', '-C', 'mine', '-f', join(directory, 'id')]);
  const imported = readFileSync(join(directory, 'id'), 'utf8');
  const publicKey = readFileSync(join(directory, 'id.pub'), 'utf8').trim();
  rmSync(directory, { recursive: true });

  await page.goto('/vault/ssh-keys');
  await page.getByRole('button', { name: 'Generate a key' }).first().click();
  let dialog = page.getByRole('dialog', { name: 'Generate an SSH key' });
  await dialog.getByLabel('Name').fill('a/b');
  await dialog.getByRole('button', { name: 'Generate a key' }).click();
  await expect(dialog.getByLabel('Name')).toHaveAttribute('aria-invalid', 'true');
  await dialog.getByLabel('Name').fill('deploy');
  await dialog.getByRole('button', { name: 'Generate a key' }).click();
  const keys = page.getByRole('list', { name: 'Keys' });
  await expect(keys.getByText(/^ssh-ed25519 /)).toBeVisible();
  await expect(keys.getByText(/^SHA256:/)).toBeVisible();
  await expect(keys.getByText('Encrypted')).toBeVisible();

  await page.getByRole('button', { name: 'Import a key' }).click();
  dialog = page.getByRole('dialog', { name: 'Import an SSH key' });
  await dialog.getByLabel('Name').fill('mine');
  await dialog.getByLabel('Private key').fill(imported);
  await dialog.getByRole('button', { name: 'Import a key' }).click();
  await expect(dialog.getByText(/passphrase is required/)).toBeVisible();
  await dialog.getByLabel('Passphrase', { exact: false }).first().fill('wrong');
  await dialog.getByRole('button', { name: 'Import a key' }).click();
  await expect(dialog.getByText('It does not decrypt the key.')).toBeVisible();
  await dialog.getByLabel('Passphrase', { exact: false }).first().fill('open sesame');
  await dialog.getByRole('button', { name: 'Import a key' }).click();
  const mine = keys.getByRole('listitem').filter({ hasText: 'mine' });
  await expect(mine.getByText(publicKey.split(' ')[1] ?? '')).toBeVisible();

  const downloading = page.waitForEvent('download');
  await mine.getByRole('button', { name: 'Download .pub' }).click();
  const file = await (await downloading).path();
  expect(readFileSync(file, 'utf8')).toContain(publicKey.split(' ')[1]);

  await mine.getByRole('button', { name: 'Delete mine' }).click();
  const confirm = page.getByRole('dialog', { name: 'Delete SSH key' });
  await confirm.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(keys.getByRole('listitem')).toHaveCount(1);
  expect((await home.rpc<{ ssh_keys: unknown[] }>('ssh_keys.list')).ssh_keys).toHaveLength(1);
});

test('keyboard-only use, accessibility in both themes, and no horizontal scroll at 320 px', async ({ home, page }) => {
  await home.rpc('env.set', { key: 'A_RATHER_LONG_NAME_OF_A_VARIABLE_THAT_DOES_NOT_FIT_ANYWHERE', value: 'x' });
  await home.rpc('ssh_keys.generate', { name: 'deploy' });
  await page.goto('/vault/environment');
  await page.getByRole('button', { name: 'Add variable' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('Name').focus();
  await page.keyboard.type('BY_KEYBOARD');
  await page.keyboard.press('Tab');
  await page.keyboard.type('secret');
  await page.keyboard.press('Enter');
  await expect(variables(page).getByText('BY_KEYBOARD', { exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Add variable' })).toBeFocused();
  for (const place of ['/vault/environment', '/vault/ssh-keys']) {
    await page.goto(place);
    await expect(page.getByText('Encrypted').first()).toBeVisible();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), colorScheme).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.setViewportSize({ width: 1280, height: 900 });
  }
});
