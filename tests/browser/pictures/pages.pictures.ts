// Pictures of every page of a gateway in use, and of special states.
import type { Page } from '@playwright/test';
import { ModelServer } from '../fixtures/model';
import { places } from '../fixtures/places';
import { SpeechVendor } from '../fixtures/speech';
import { authenticator, expect, test, type Gateway } from '../fixtures/test';
import { seed } from './seed';
import { isWanted, settled, take, visit } from './take';

let model: ModelServer;

test.use({
  environment: async ({}, use) => {
    model = await ModelServer.start();
    const vendor = await SpeechVendor.start();
    await use({ ...model.environment, ...vendor.environment, SERVICE_TOOLS__REQUIRE_APPROVAL: '["web_fetch"]' });
    await vendor.close();
    await model.close();
  },
});

const dialog = (page: Page) => page.getByRole('dialog');

async function ask(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
}

test('pages', async ({ home, page }) => {
  const seeded = await seed(home, model);
  if (isWanted('security')) await addPasskey(page);
  for (const [picture, path] of Object.entries(places(seeded))) {
    // The same as the empty page.
    if (picture === 'chat-empty') continue;
    // The settings list is a separate page only on phones.
    if (picture === 'settings') await take(page, picture, path);
    else await visit(page, picture, path);
  }
  await visit(page, 'agent', '/agents/steward');
  await visit(page, 'channel-new', '/channels?new');
  if (isWanted('chat-approval') || isWanted('chat-streaming')) await chats(page);
  if (isWanted('webhook-new-github') || isWanted('webhook-ready')) await newWebhook(page);
  if (isWanted('dialog')) await dialogs(page);
  if (isWanted('shared')) await shared(home, page, seeded.session);
  await visit(page, 'no-such-webhook', '/webhooks/nothing');
  await home.call('POST', '/api/auth/vault/seal');
  await visit(page, 'sealed', '/vault/environment');
  await visit(page, 'vault-sealed', '/vault');
  if (!isWanted('dialog-unlock')) return;
  await page.goto('/deliveries');
  await page.getByRole('button', { name: 'Unlock' }).first().click();
  await expect(dialog(page)).toBeVisible();
  await take(page, 'dialog-unlock');
});

async function addPasskey(page: Page): Promise<void> {
  await authenticator(page);
  await page.goto('/settings/security');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await dialog(page).getByLabel('Name').fill('Work laptop');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByText('Work laptop', { exact: true })).toBeVisible();
}

async function chats(page: Page): Promise<void> {
  await page.goto('/chat?agent=steward');
  await settled(page);
  model.next({
    text: ['The backup of tonight copied **212 GB** in 41 minutes. ', 'The slowest part was `photos/2026`, because ', 'it'],
    hold: true,
  });
  await ask(page, 'Why was the backup slow?');
  await expect(page.getByText('The slowest part was')).toBeVisible();
  await take(page, 'chat-streaming');
  model.go();
  await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0);
  model.next({ tool: { name: 'web_fetch', arguments: { url: 'https://status.example.org/backup' } } });
  await ask(page, 'Look at the status page of the backup');
  await expect(page.getByRole('heading', { name: /Allow the agent to use/ })).toBeVisible();
  await take(page, 'chat-approval');
  model.next({ text: ['Then not.'] });
  await page.getByRole('button', { name: 'Deny' }).click();
  await expect(page.getByText('Then not.', { exact: true })).toBeVisible();
  model.next({ refuse: 400 });
  await ask(page, 'And now?');
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
  await take(page, 'chat-refused');
}

async function newWebhook(page: Page): Promise<void> {
  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^GitHub/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Shop code');
  await settled(page);
  await take(page, 'webhook-new-github');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toBeVisible();
  await take(page, 'webhook-ready');
  await page.getByLabel('I’ve saved it').check();
}

async function dialogs(page: Page): Promise<void> {
  await page.goto('/settings/security/access');
  await page.getByRole('button', { name: 'Create an API key' }).click();
  await dialog(page).getByLabel('Label').fill('backup script');
  await take(page, 'dialog-api-key');
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
  await expect(dialog(page).getByText(/^mk_/)).toBeVisible();
  await take(page, 'dialog-api-key-made');
  await dialog(page).getByLabel('I’ve saved it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await page.goto('/settings/voice/personas');
  await page.getByRole('button', { name: 'New persona' }).click();
  await take(page, 'dialog-persona');
  await page.goto('/webhooks');
  await page.getByRole('button', { name: 'Actions for Bills' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(dialog(page)).toBeVisible();
  await take(page, 'dialog-delete');
}

async function shared(home: Gateway, page: Page, session: string): Promise<void> {
  await page.goto(`/chat/${session}`);
  await page.getByRole('button', { name: 'Rename, share or delete' }).click();
  await page.getByRole('menuitem', { name: 'Share…' }).click();
  await page.getByRole('button', { name: 'Create link' }).click();
  const link = page.getByRole('textbox', { name: 'Link' });
  await expect(link).toBeVisible();
  const address = home.origin + new URL(await link.inputValue()).pathname;
  await take(page, 'dialog-share');
  await visit(page, 'shared', address);
}
