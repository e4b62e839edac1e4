// Answers that arrive after the user has left the dialog, the page or the conversation that asked for them.
import type { Page } from '@playwright/test';
import { hold } from './fixtures/hold';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, type Gateway } from './fixtures/test';
import { test } from './fixtures/with-model';

const list = (page: Page) => page.getByRole('list', { name: 'Conversations' });
const writing = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const act = async (page: Page, name: string, action: string) => {
  await page.getByRole('button', { name: `Actions for ${name}` }).first().click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
};

/** Opens the chat with two conversations. The socket is silent, so calls use HTTP and can be held. */
async function openTwo(gateway: Gateway, page: Page): Promise<void> {
  await page.routeWebSocket(/\/ws\/chat$/, () => undefined);
  for (const text of ['Oldest', 'Newest']) await gateway.rpc('chat.send_sync', { text });
  await page.goto('/chat');
  await expect(list(page).getByRole('listitem')).toHaveCount(2);
}

test('a late link to one conversation is not shown for another', async ({ home, page }) => {
  await openTwo(home, page);
  const dialog = page.getByRole('dialog', { name: 'Share conversation' });
  await act(page, 'Oldest', 'Share…');
  const release = await hold(page);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await page.keyboard.press('Escape');
  await act(page, 'Newest', 'Share…');
  await release('sessions.share');
  // The list is loaded again after the answer.
  await expect(list(page).getByRole('listitem').filter({ hasText: 'Oldest' })).toContainText('Shared by link');
  await expect(dialog.getByRole('button', { name: 'Create link' })).toBeVisible();
  await expect(dialog.getByRole('textbox', { name: 'Link' })).toHaveCount(0);
});

test('a late deletion does not close the question about another conversation', async ({ home, page }) => {
  await openTwo(home, page);
  const dialog = page.getByRole('dialog', { name: 'Delete conversation' });
  await act(page, 'Oldest', 'Delete');
  const release = await hold(page);
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.keyboard.press('Escape');
  await act(page, 'Newest', 'Delete');
  await release('sessions.delete');
  await expect(list(page).getByText('Oldest')).toHaveCount(0);
  await expect(dialog).toContainText('Newest');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(list(page).getByText('Newest')).toHaveCount(0);
  await expect(dialog).toHaveCount(0);
});

test('a late refusal of one name or tag is not shown for another conversation', async ({ home, page }) => {
  await openTwo(home, page);
  const cases = [
    { action: 'Rename', title: 'Rename conversation', field: 'Name', save: 'Rename', method: 'sessions.rename', wrong: ' ', reason: /200 characters/ },
    { action: 'Tags', title: 'Tags of the conversation', field: 'Tags', save: 'Save', method: 'sessions.update', wrong: 'x'.repeat(41), reason: /40 characters/ },
  ];
  for (const { action, title, field, save, method, wrong, reason } of cases) {
    const dialog = page.getByRole('dialog', { name: title });
    const entry = dialog.getByLabel(field, { exact: true });
    await act(page, 'Oldest', action);
    await entry.fill(wrong);
    const release = await hold(page);
    await dialog.getByRole('button', { name: save, exact: true }).click();
    await page.keyboard.press('Escape');
    await act(page, 'Newest', action);
    await expect(entry).toBeVisible();
    await release(method);
    await expect(page.locator('.toasts').getByText(reason)).toBeVisible();
    await expect(dialog.getByText(reason)).toHaveCount(0);
    await expect(dialog.getByRole('button', { name: save, exact: true })).not.toHaveAttribute('aria-busy');
    await page.keyboard.press('Escape');
    await page.locator('.toasts').getByRole('button', { name: 'Dismiss' }).click();
  }
});

test('what is typed while a conversation begins stays in it', async ({ home: _, page }) => {
  await page.routeWebSocket(/\/ws\/chat$/, () => undefined);
  await page.goto('/chat');
  const release = await hold(page);
  await writing(page).fill('The first message');
  await writing(page).press('Enter');
  await writing(page).fill('The second one');
  await release('chat.send');
  await expect(page).toHaveURL(/\/chat\/\w+$/);
  await page.getByRole('button', { name: 'New conversation' }).click();
  await expect(page).toHaveURL(/\/chat$/);
  await expect(writing(page)).toHaveValue('');
  await page.goBack();
  await expect(writing(page)).toHaveValue('The second one');
  await page.reload();
  await expect(writing(page)).toHaveValue('The second one');
});

test('a late replay does not lead away from the page that was opened since', async ({ home, page }) => {
  await page.routeWebSocket(/\/ws\/chat$/, () => undefined);
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a', deliver_only: true, deliver_to: 'inbox', prompt_template: 'PR {number}' });
  const { body } = await deliver(home, hook, pullRequest(1), { event: 'pull_request' });
  await page.goto(`/deliveries/${body.delivery_id}`);
  await expect(page.getByText('Sent to Inbox in').first()).toBeVisible();
  const release = await hold(page);
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByRole('link', { name: /^Inbox/ }).first().click();
  await expect(page.getByRole('heading', { level: 1, name: 'Inbox' })).toBeVisible();
  await release('webhooks.delivery.replay');
  await expect(page.getByText('1 delivery queued again').first()).toBeVisible();
  await expect(page).toHaveURL(/\/inbox$/);
});

test('a late replay does not lead away from another delivery that was opened since', async ({ home, page }) => {
  await page.routeWebSocket(/\/ws\/chat$/, () => undefined);
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a', deliver_only: true, deliver_to: 'inbox', prompt_template: 'PR {number}' });
  const older = await deliver(home, hook, pullRequest(1), { event: 'pull_request' });
  const newer = await deliver(home, hook, pullRequest(2), { event: 'pull_request' });
  await page.goto(`/deliveries/${newer.body.delivery_id}`);
  await expect(page.getByText('Sent to Inbox in').first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Older delivery' })).toBeEnabled();
  const release = await hold(page);
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByRole('button', { name: 'Older delivery' }).click();
  await expect(page).toHaveURL(`/deliveries/${older.body.delivery_id}`);
  await release('webhooks.delivery.replay');
  await expect(page.getByText('1 delivery queued again').first()).toBeVisible();
  await expect(page).toHaveURL(`/deliveries/${older.body.delivery_id}`);
});
