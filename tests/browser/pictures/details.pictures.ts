// Pictures of people on channels, notification rules, edited replays, and files in conversations.
import type { Page } from '@playwright/test';
import { pdf, png } from '../fixtures/files';
import { ModelServer, SEEING } from '../fixtures/model';
import { deliver, makeWebhook, pullRequest } from '../fixtures/sender';
import { Telegram, TOKEN } from '../fixtures/telegram';
import { expect, test } from '../fixtures/test';
import { isWanted, settled, take, visit } from './take';

let model: ModelServer;
let telegram: Telegram;

test.use({
  environment: async ({}, use) => {
    model = await ModelServer.start();
    telegram = await Telegram.start();
    await use({ ...model.environment, SERVICE_MODELS__DEFAULT: `local/${SEEING}` });
    await telegram.close();
    await model.close();
  },
});

const dialog = (page: Page) => page.getByRole('dialog');

test('details', async ({ home, page }) => {
  const fields = { bot_token: TOKEN, base_url: telegram.url, inbound: true };
  await home.rpc('channels.create', { type: 'telegram', label: 'Family bot', fields });
  telegram.write(42, 'Ada', '/start');
  await expect.poll(() => telegram.sent.length).toBe(1);
  if (isWanted('channels-people')) await people(page);
  await home.rpc('config.set', { key: 'notify.delivery_failed', value: ['inbox'] });
  await home.rpc('config.set', { key: 'notify.webhook_refuses', value: ['telegram', 'inbox'] });
  await visit(page, 'notifications-rules', '/settings/notifications');

  const hook = await makeWebhook(home, {
    name: 'House',
    source_profile: 'codehost_a',
    deliver_only: true,
    deliver_to: 'inbox',
    prompt_template: 'PR {pull_request.title}',
  });
  const { body } = await deliver(home, hook, pullRequest(7), { event: 'pull_request', id: 'd-1' });
  await page.goto(`/deliveries/${body.delivery_id}`);
  await expect(page.getByText('Sent to inbox in')).toBeVisible();
  if (isWanted('replay')) await replay(page);
  if (isWanted('chat-files')) await files(page);
});

async function people(page: Page): Promise<void> {
  await page.goto('/channels');
  await expect(page.getByText('ID 42')).toBeVisible();
  await page.getByRole('button', { name: 'Approve Ada' }).click();
  await expect(dialog(page)).toBeVisible();
  await take(page, 'channels-people-approve');
  await dialog(page).getByRole('button', { name: 'Approve' }).click();
  await expect(page.getByText('Paired', { exact: true })).toBeVisible();
  telegram.write(43, 'Grace Hopper', 'hello');
  await expect(page.getByText('ID 43')).toBeVisible();
  await take(page, 'channels-people');
}

async function replay(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run with changes' }).click();
  const payload = dialog(page).getByRole('textbox', { name: 'Payload' });
  await expect(payload).toHaveValue(/Mend the gate/);
  await payload.fill((await payload.inputValue()).replace('Mend the gate', 'Paint the gate'));
  await take(page, 'replay-edited');
  await dialog(page).getByRole('button', { name: 'Replay' }).click();
  await expect(page.getByText('it is not verified')).toBeVisible();
  await take(page, 'replay-edited-delivery');
}

async function files(page: Page): Promise<void> {
  await page.goto('/chat');
  await settled(page);
  const pick = async () => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await chooser).setFiles([
      { name: 'gate.png', mimeType: 'image/png', buffer: png(640, 420, [176, 141, 87]) },
      { name: 'invoice.pdf', mimeType: 'application/pdf', buffer: pdf('Invoice 17: new hinges') },
      { name: 'a-file-with-a-rather-long-name-that-has-to-be-cut-somewhere.txt', mimeType: 'text/plain', buffer: Buffer.from('Hinges') },
    ]);
    await expect(page.locator('form').getByRole('list', { name: 'Attached files' }).getByRole('listitem')).toHaveCount(3);
  };
  await pick();
  await page.getByRole('textbox', { name: 'Message' }).fill('What do the hinges cost?');
  await take(page, 'chat-files-attached');
  model.next({ text: ['The invoice says 17 for the hinges.'] });
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByRole('region', { name: 'Messages' }).getByText('The invoice says 17 for the hinges.').first()).toBeVisible();
  await take(page, 'chat-files');
}
