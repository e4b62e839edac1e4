// Settings → Providers and models: a server added in the web UI answers in chat; keys, tests, the default model, and values
// fixed by the environment.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { expect, secondWindow, test } from './fixtures/test';

const row = (page: Page, id: string) =>
  page.getByRole('list', { name: 'Providers' }).getByRole('listitem').filter({ hasText: id });

async function addServer(page: Page, id: string, url: string, key: string) {
  await page.getByRole('button', { name: 'Add a server' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a server' });
  await dialog.getByLabel('ID', { exact: true }).fill(id);
  await dialog.getByLabel('Base URL').fill(url);
  await dialog.getByRole('textbox', { name: 'API key' }).fill(key);
  await dialog.getByRole('button', { name: 'Add server' }).click();
  return dialog;
}

test('a server is validated, added, tested, made the default, used in chat, and removed', async ({ home, page }) => {
  const model = await ModelServer.start();
  const other = await secondWindow(page);
  await other.goto('/settings/providers');
  await page.goto('/settings/providers');
  await expect(row(page, 'OpenAI').getByText('No key', { exact: true })).toBeVisible();

  const dialog = await addServer(page, 'bad id', 'nonsense', 'sk-wrong');
  await expect(dialog.getByLabel('ID', { exact: true })).toHaveAttribute('aria-invalid', 'true');
  await dialog.getByLabel('ID', { exact: true }).fill('lab');
  await dialog.getByRole('button', { name: 'Add server' }).click();
  await expect(dialog.getByLabel('Base URL')).toHaveAttribute('aria-invalid', 'true');
  await expect(dialog.getByLabel('Base URL')).toBeFocused();
  await dialog.getByLabel('Base URL').fill(model.url);
  await dialog.getByRole('button', { name: 'Add server' }).click();
  // The key is wrong, so the server is not ready, in the other window neither.
  await expect(row(page, 'lab').getByText('Key rejected')).toBeVisible();
  await expect(row(other, 'lab').getByText('Key rejected')).toBeVisible();
  await expect(row(page, 'lab').getByText('Ready')).toHaveCount(0);
  await expect(row(page, 'lab').getByRole('alert')).toBeVisible();
  await row(page, 'lab').getByRole('button', { name: 'Replace key for lab' }).click();
  const key = page.getByRole('dialog', { name: 'API key for lab' });
  await key.getByRole('textbox', { name: 'API key' }).fill('sk-also-wrong');
  await key.getByRole('button', { name: 'Save and test' }).click();
  await expect(key.getByRole('alert')).toContainText('rejected the key');
  await key.getByRole('textbox', { name: 'API key' }).fill('sk-test');
  await key.getByRole('button', { name: 'Save and test' }).click();
  await expect(key).toHaveCount(0);
  await expect(row(page, 'lab').getByText('Ready')).toBeVisible();
  await row(page, 'lab').getByRole('button', { name: 'Test lab' }).click();
  await expect(row(page, 'lab').getByText(/Responded in .*; 2 models\./)).toBeVisible();
  expect(await page.content()).not.toContain('sk-test');

  const models = page.getByRole('list', { name: 'Models' });
  await expect(models.getByRole('listitem')).toHaveCount(2);
  await page.getByLabel('Search models').fill('other');
  await expect(models.getByRole('listitem')).toHaveCount(1);
  await models.getByRole('button', { name: 'Make default: lab/other-model' }).click();
  await expect(models.getByText('Default', { exact: true })).toBeVisible();
  await expect(page.getByLabel('Default model').and(page.locator('input'))).toHaveValue('lab/other-model');

  model.next({ text: ['The answer is 42.'] });
  const answer = await home.rpc<{ text: string }>('chat.send_sync', { text: 'What is the answer?' });
  expect(answer.text).toBe('The answer is 42.');
  expect(model.asked.at(-1)?.model).toBe('other-model');

  await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByLabel('Default model').and(page.locator('input'))).toHaveValue('');

  await row(page, 'lab').getByRole('button', { name: 'Actions for lab' }).click();
  await page.getByRole('menuitem', { name: 'Remove server' }).click();
  const confirm = page.getByRole('dialog', { name: 'Remove server' });
  await confirm.getByRole('button', { name: 'Remove server' }).click();
  await expect(row(page, 'lab')).toHaveCount(0);
  await model.close();
});

test('a key is refused while the vault is sealed after a restart, and saved after unlocking in place', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  const model = await ModelServer.start();
  await home.rpc('config.set', { key: 'models.providers.lab.base_url', value: model.url });
  await page.goto('/settings/providers');
  await row(page, 'lab').getByRole('button', { name: 'Add key for lab' }).click();
  const dialog = page.getByRole('dialog', { name: 'API key for lab' });
  await dialog.getByRole('textbox', { name: 'API key' }).fill('sk-a-wrong-key-for-the-test-1234');
  await home.restart();
  await expect(page.getByText('The vault is sealed: keys')).toBeVisible();
  await dialog.getByRole('button', { name: 'Save and test' }).click();
  await expect(dialog.getByRole('alert')).toContainText('rejected the key');
  await dialog.getByRole('button', { name: 'Save anyway' }).click();
  await dialog.getByRole('button', { name: 'Unlock' }).click();
  const unlock = page.getByRole('dialog', { name: 'Unlock the vault' });
  await unlock.getByRole('textbox', { name: 'Password', exact: true }).fill('correct horse battery staple');
  await unlock.getByRole('button', { name: 'Unlock', exact: true }).click();
  await dialog.getByRole('button', { name: 'Save anyway' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(row(page, 'lab').getByText(/Key …1234 stored/)).toBeVisible();
  await row(page, 'lab').getByRole('button', { name: 'Actions for lab' }).click();
  await page.getByRole('menuitem', { name: 'Remove key' }).click();
  const confirm = page.getByRole('dialog', { name: 'Remove API key' });
  await confirm.getByRole('button', { name: 'Remove key' }).click();
  await expect(row(page, 'lab').getByRole('button', { name: 'Add key for lab' })).toBeVisible();
  await model.close();
});

test('a wrong key replaces a working one only if the user confirms it', async ({ home, page }) => {
  const model = await ModelServer.start();
  await home.rpc('config.set', { key: 'models.providers.lab.base_url', value: model.url });
  await home.rpc('providers.set_key', { id: 'lab', key: 'sk-test' });
  await page.goto('/settings/providers');
  await expect(row(page, 'lab').getByText('Ready')).toBeVisible();

  await row(page, 'lab').getByRole('button', { name: 'Actions for lab' }).click();
  await page.getByRole('menuitem', { name: 'Change URL' }).click();
  const server = page.getByRole('dialog').filter({ has: page.getByLabel('Base URL') });
  await server.getByRole('textbox', { name: 'API key' }).fill('sk-wrong-0123456789');
  await server.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(server.getByRole('alert')).toContainText('This key was not saved.');
  await expect(server.getByRole('button', { name: 'Save anyway' })).toBeVisible();
  await server.getByRole('button', { name: 'Cancel' }).click();

  await row(page, 'lab').getByRole('button', { name: 'Replace key for lab' }).click();
  const dialog = page.getByRole('dialog', { name: 'API key for lab' });
  const field = dialog.getByRole('textbox', { name: 'API key' });
  const keep = dialog.getByRole('button', { name: 'Save anyway' });
  await expect(keep).toHaveCount(0);
  await field.fill('sk-wrong-0123456789');
  await dialog.getByRole('button', { name: 'Save and test' }).click();
  await expect(dialog.getByRole('alert')).toContainText('This key was not saved.');
  await expect(keep).toBeVisible();
  expect(await violations(page)).toEqual([]);
  expect(await home.rpc('providers.test', { id: 'lab' })).toMatchObject({ ok: true });
  // Another key must be tested first.
  await field.fill('sk-also-wrong-0123456789');
  await expect(keep).toHaveCount(0);
  await field.fill('sk-wrong-0123456789');
  await keep.click();
  await expect(dialog).toHaveCount(0);
  await expect(row(page, 'lab').getByText('Key …6789 stored.')).toBeVisible();
  await expect(row(page, 'lab').getByText('Key rejected')).toBeVisible();
  await model.close();
});

test.describe('values fixed by the environment', () => {
  test.use({
    environment: {
      SERVICE_MODELS__DEFAULT: 'lab/some-model',
      SERVICE_MODELS__PROVIDERS__LAB__BASE_URL: 'http://127.0.0.1:9/v1',
    },
  });

  test('are explained and cannot be changed', async ({ home, page }) => {
    await page.goto('/settings/providers');
    await expect(page.getByLabel('Default model').and(page.locator('input'))).toBeDisabled();
    await expect(page.getByText('SERVICE_MODELS__DEFAULT')).toBeVisible();
    await expect(row(page, 'lab').getByText('set in the gateway’s environment')).toBeVisible();
    await row(page, 'lab').getByRole('button', { name: 'Actions for lab' }).click();
    await expect(page.getByRole('menuitem', { name: 'Change URL' })).toBeDisabled();
    expect(home.port).toBeGreaterThan(0);
  });
});

test('keyboard-only use, accessibility in both themes, and no horizontal scroll at 320 px', async ({ home, page }) => {
  const model = await ModelServer.start();
  await home.rpc('config.set', { key: 'models.providers.lab.base_url', value: model.url });
  await home.rpc('providers.set_key', { id: 'lab', key: 'sk-test' });
  await page.goto('/settings/providers');
  const test = row(page, 'lab').getByRole('button', { name: 'Test lab' });
  await test.focus();
  await page.keyboard.press('Enter');
  await expect(row(page, 'lab').getByText(/Responded in/)).toBeVisible();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Change URL' })).toBeFocused();
  await page.keyboard.press('Escape');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  await model.close();
});
