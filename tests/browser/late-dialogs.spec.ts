// Answers that arrive after their dialog was closed: they name their record, and leave the next dialog and the list right.
import type { Page } from '@playwright/test';
import { hold } from './fixtures/hold';
import { useHttp } from './fixtures/refuse';
import { expect, test } from './fixtures/test';
import { make } from './fixtures/webhook';

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
const toasts = (page: Page) => page.locator('.toasts');

test('a late removal of a key names its own provider', async ({ home, page }) => {
  await home.rpc('providers.set_key', { id: 'tts_cloud_1', key: 'xi-0815-key-1234' });
  await useHttp(page);
  await page.goto('/settings/voice');
  await page.getByRole('button', { name: 'Change ElevenLabs' }).click();
  const remove = dialog(page, 'Set up ElevenLabs').getByRole('button', { name: 'Remove the stored key' });
  await expect(remove).toBeVisible();
  const release = await hold(page);
  await remove.click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Set up OpenAI' }).click();
  await release('providers.remove_key');
  await expect(toasts(page).getByText('Key for ElevenLabs removed')).toBeVisible();
  await expect(dialog(page, 'Set up OpenAI')).toBeVisible();
});

test('a late refusal of a key names its provider', async ({ home: _, page }) => {
  await useHttp(page);
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  await page.route(/\/api\/rpc$/, async (route) => {
    const { method } = route.request().postDataJSON() as { method: string };
    if (method !== 'providers.test') return route.fallback();
    await held;
    const data = { code: 'INVALID_PARAMS', field: 'key', reason: 'must be printable' };
    return route.fulfill({
      json: { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'Invalid `key`: must be printable.', data } },
    });
  });
  await page.goto('/settings/providers');
  await page.getByRole('button', { name: 'Add key for Anthropic' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'API key', exact: true }).fill('sk-wrong');
  await page.getByRole('dialog').getByRole('button', { name: 'Save and test' }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  go();
  await expect(toasts(page).getByText('Anthropic: Key: must be printable.')).toBeVisible();
});

test('a webhook whose deletion succeeds late is left, and its dialog does not ask again', async ({ home, page }) => {
  const { id } = await make(home, { name: 'Old one', source_profile: 'github', deliver_only: true });
  await useHttp(page);
  await page.goto(`/webhooks/${id}?tab=settings`);
  await page.getByRole('button', { name: 'Delete…' }).click();
  await dialog(page, 'Delete Old one').getByLabel('Type Old one to confirm').fill('Old one');
  const release = await hold(page);
  await dialog(page, 'Delete Old one').getByRole('button', { name: 'Delete this webhook' }).click();
  await page.keyboard.press('Escape');
  await expect(dialog(page, 'Delete Old one')).toHaveCount(0);
  await release('webhooks.delete');
  await expect(page.getByText('No webhooks yet')).toBeVisible();
  await expect(page).toHaveURL(/\/webhooks$/);
});

test('a late deletion of one webhook does not close the question about another', async ({ home, page }) => {
  for (const name of ['First', 'Second']) await make(home, { name, source_profile: 'github', deliver_only: true });
  await useHttp(page);
  await page.goto('/webhooks');
  const ask = async (name: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
  };
  await ask('First');
  await dialog(page, 'Delete First').getByLabel('Type First to confirm').fill('First');
  const release = await hold(page);
  await dialog(page, 'Delete First').getByRole('button', { name: 'Delete this webhook' }).click();
  await page.keyboard.press('Escape');
  await ask('Second');
  await release('webhooks.delete');
  await expect(toasts(page).getByText('First deleted.')).toBeVisible();
  await expect(dialog(page, 'Delete Second')).toBeVisible();
});

test('of two quick moves of fallbacks none is lost', async ({ home, page }) => {
  await home.rpc('config.set', { key: 'voice.tts.fallback', value: ['tts_cloud_1', 'tts_cloud_2', 'tts_cloud_3'] });
  await useHttp(page);
  await page.goto('/settings/voice');
  const rows = page.getByRole('list', { name: 'Fallbacks' }).getByRole('listitem');
  await expect(rows).toContainText(['ElevenLabs', 'OpenAI', 'Google Cloud']);
  const release = await hold(page);
  await page.getByRole('button', { name: 'Move Google Cloud up' }).click();
  await page.getByRole('button', { name: 'Move ElevenLabs down' }).click();
  await release('config.set');
  await expect(rows).toContainText(['Google Cloud', 'ElevenLabs', 'OpenAI']);
});

test('the list of backups that was loaded on an earlier visit can be loaded again', async ({ home, page }) => {
  await page.goto('/settings/system/backups');
  const backups = page.getByRole('region', { name: 'Backups' });
  await backups.getByRole('button', { name: 'Show backups' }).click();
  await expect(backups.getByText('There are no backups yet.')).toBeVisible();
  await page.getByRole('link', { name: /^Inbox/ }).first().click();
  await expect(page.getByRole('heading', { level: 1, name: 'Inbox' })).toBeVisible();
  await home.rpc('backup.create');
  await page.goBack();
  await expect(backups.getByRole('button', { name: 'Show backups' })).toBeVisible();
  await expect(backups.getByText('There are no backups yet.')).toHaveCount(0);
  await backups.getByRole('button', { name: 'Show backups' }).click();
  await expect(backups.getByRole('list', { name: 'Backups' }).getByRole('listitem')).toHaveCount(1);
  await expect(backups.getByRole('button', { name: 'Show backups' })).toHaveCount(0);
});
