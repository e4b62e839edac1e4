// Settings → Channels and Inbox: forms built from the channel type, tests against a real receiver, turning on and off,
// deletion, and live messages.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { receiver } from './fixtures/receiver';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, PASSWORD, secondWindow, test } from './fixtures/test';

const row = (page: Page, label: string) =>
  page.getByRole('list', { name: 'Your channels' }).getByRole('listitem').filter({ hasText: label });

test('create, validate, test, edit with the secret kept, turn off and on, and delete a channel', async ({ home, page }) => {
  const there = await receiver();
  const other = await secondWindow(page);
  await other.goto('/channels');
  await expect(other.getByText('No channels yet')).toBeVisible();
  await page.goto('/channels');
  await page.getByRole('link', { name: 'New channel' }).click();
  await page.getByRole('link', { name: /^HTTP receiver/ }).click();
  await expect(page.getByRole('heading', { name: 'New channel: HTTP receiver' })).toBeFocused();
  await page.getByLabel('Label').fill('Ops');
  await page.getByRole('button', { name: 'Add channel' }).click();
  await expect(page.getByLabel('URL', { exact: true })).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByLabel('URL', { exact: true })).toBeFocused();
  await page.getByLabel('URL', { exact: true }).fill(there.url);
  await page.getByRole('textbox', { name: 'Headers' }).fill('X-Team: blue');
  await page.getByRole('button', { name: 'Add channel' }).click();
  await expect(page.getByRole('heading', { name: 'Ops', level: 1 })).toBeVisible();
  await expect(row(other, 'Ops')).toBeVisible();

  await page.getByRole('button', { name: 'Send a test through Ops' }).click();
  await expect(page.getByText('Sent. Check that it arrived.')).toBeVisible();
  expect(there.received.at(-1)?.headers['x-team']).toBe('blue');
  expect(there.received.at(-1)?.body.text).not.toBe('');

  // The stored header is not shown and not lost.
  await expect(page.getByRole('textbox', { name: 'Headers' })).toHaveValue('');
  await page.getByLabel('Label').fill('Ops team');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { name: 'Ops team', level: 1 })).toBeVisible();
  there.answer.status = 410;
  await page.getByRole('button', { name: 'Send a test through Ops team' }).click();
  await expect(page.getByRole('main').getByRole('alert')).toContainText('410');
  // The failure names the channel, not its type.
  await expect(page.getByRole('main').getByRole('alert')).toContainText('Ops team');
  await expect(page.getByRole('main').getByRole('alert')).not.toContainText(/HTTP receiver/i);
  expect(there.received.at(-1)?.headers['x-team']).toBe('blue');

  await page.getByRole('link', { name: 'Back', exact: true }).click();
  await page.getByRole('switch', { name: 'Ops team: enabled' }).click();
  await expect(row(page, 'Ops team').getByText('Off', { exact: true })).toBeVisible();
  await expect(row(other, 'Ops team').getByText('Off', { exact: true })).toBeVisible();
  await page.getByRole('switch', { name: 'Ops team: enabled' }).click();
  await expect(row(page, 'Ops team').getByText('Off', { exact: true })).toHaveCount(0);

  await page.getByRole('button', { name: 'Actions for Ops team' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const confirm = page.getByRole('dialog', { name: 'Delete channel' });
  await confirm.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByText('No channels yet')).toBeVisible();
  expect((await home.rpc<{ channels: unknown[] }>('channels.list')).channels).toHaveLength(2);
  await there.close();
});

test('a channel in use is deleted only after a second question that names what uses it', async ({ home, page }) => {
  await home.rpc('channels.create', { type: 'http', id: 'ops', label: 'Ops', fields: { url: 'http://127.0.0.1:9/' } });
  await home.rpc('config.set', { key: 'webhooks.retry_base_ms', value: 600_000 });
  const hook = { source_profile: 'codehost_a', deliver_only: true, deliver_to: 'http:ops' };
  const house = await makeWebhook(home, { ...hook, name: 'House' });
  await makeWebhook(home, { ...hook, name: 'Shop' });
  const { body } = await deliver(home, house, pullRequest(), { event: 'pull_request' });
  await page.goto('/channels');
  const ask = async () => {
    await page.getByRole('button', { name: 'Actions for Ops' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
  };
  const dialog = page.getByRole('dialog', { name: 'Delete channel' });
  await ask();
  await expect(dialog).toContainText('will be permanently deleted');
  // A double click answers the first question only.
  await dialog.getByRole('button', { name: 'Delete', exact: true }).dblclick();
  await expect(dialog).toContainText('Ops is in use.');
  await expect(dialog.getByRole('link', { name: '1 delivery waits for it' })).toHaveAttribute('href', '/deliveries?status=received,queued,processing');
  await expect(dialog).toContainText('2 webhooks send to it:');
  await expect(dialog.getByRole('link', { name: 'House' })).toHaveAttribute('href', `/webhooks/${house.id}`);
  await expect(dialog.getByRole('link', { name: 'Shop' })).toBeVisible();
  await expect(dialog).not.toContainText(/`|force/);
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(row(page, 'Ops')).toBeVisible();

  // Each time, the first question comes first.
  await ask();
  await expect(dialog).toContainText('will be permanently deleted');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByRole('button', { name: 'Delete anyway' }).click();
  await expect(page.getByText('No channels yet')).toBeVisible();
  const failed = async () => (await home.rpc<{ status: string }>('webhooks.delivery.get', { id: body.delivery_id })).status;
  await expect.poll(failed).toBe('failed');
});

test('a secret can be entered after the vault is unlocked, and input survives the restart', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/channels?new=telegram');
  await page.getByLabel('Label').fill('Family');
  await page.getByRole('textbox', { name: 'Bot token' }).fill('987654:not-the-example');
  await home.restart();
  await expect(page.getByText('Unlock it to enter secrets')).toBeVisible();
  await page.getByRole('button', { name: 'Add channel' }).click();
  await page.getByRole('main').getByRole('alert').getByRole('button', { name: 'Unlock' }).click();
  const unlock = page.getByRole('dialog', { name: 'Unlock the vault' });
  await unlock.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await unlock.getByRole('button', { name: 'Unlock', exact: true }).click();
  await page.getByRole('button', { name: 'Add channel' }).click();
  await expect(page.getByRole('heading', { name: 'Family', level: 1 })).toBeVisible();
  expect(await page.content()).not.toContain('987654:not');
});

test('an ntfy channel asks for its topic, and says what works without it', async ({ home: _, page }) => {
  await page.goto('/channels?new=ntfy');
  const field = page.locator('.field').filter({ has: page.getByLabel('Topic', { exact: true }) });
  await expect(field).toContainText('only webhooks that set a topic can send messages');
  await expect(field).not.toContainText('optional');
  await expect(page.locator('.field').filter({ has: page.getByLabel('Access token') })).toContainText('optional');
});

test('an email channel names all that is missing, and asks for a mailbox only while it receives', async ({ home, page }) => {
  await home.rpc('agents.create', { name: 'Clerk', system_prompt: 'Be short.' });
  await page.goto('/channels?new=email');
  await page.getByRole('button', { name: 'Add channel' }).click();
  await expect(page.getByLabel('Label')).toBeFocused();
  await expect(page.getByText('Enter a label.')).toBeVisible();
  for (const name of ['Label', 'Server', 'From']) {
    await expect(page.getByLabel(name, { exact: true })).toHaveAttribute('aria-invalid', 'true');
  }
  await expect(page.getByLabel('IMAP server')).toHaveCount(0);
  await page.getByRole('switch', { name: 'Receive messages' }).check();
  await expect(page.getByLabel('IMAP server')).toBeVisible();
  await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'Clerk' });
  await page.getByLabel('IMAP security').selectOption('STARTTLS');
  await page.getByRole('switch', { name: 'Receive messages' }).uncheck();
  await expect(page.getByLabel('IMAP security')).toHaveCount(0);
  await page.getByLabel('Label').fill('Mail');
  await page.getByLabel('Server', { exact: true }).fill('smtp.example.com');
  await page.getByLabel('From', { exact: true }).fill('gatehouse@example.com');
  await page.getByRole('button', { name: 'Add channel' }).click();
  await expect(page.getByRole('heading', { name: 'Mail', level: 1 })).toBeVisible();
  await page.getByRole('switch', { name: 'Receive messages' }).check();
  await expect(page.getByLabel('IMAP security')).toHaveValue('starttls');
});

test('the inbox: empty state, live messages, unread count, marking as read', async ({ home, page }) => {
  const other = await secondWindow(page);
  await other.goto('/inbox');
  await page.goto('/inbox');
  await expect(page.getByText('No messages yet')).toBeVisible();
  await home.rpc('channels.test', { id: 'inbox', text: 'Build 41 failed' });
  await home.rpc('channels.test', { id: 'inbox', text: 'Build 42 failed' });
  const messages = page.getByRole('list', { name: 'Messages' });
  await expect(messages.getByRole('listitem')).toHaveCount(2);
  await expect(messages.getByRole('listitem').first()).toContainText('Build 42 failed');
  await expect(page.getByRole('link', { name: /Inbox.*2 unread/ })).toBeVisible();
  await messages.getByRole('button', { name: 'Mark as read' }).first().click();
  await expect(page.getByRole('link', { name: /Inbox.*1 unread/ })).toBeVisible();
  // The other window is updated.
  await expect(other.getByRole('link', { name: /Inbox.*1 unread/ })).toBeVisible();
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await expect(page.getByRole('link', { name: /unread/ })).toHaveCount(0);
  await page.reload();
  await expect(messages.getByRole('listitem')).toHaveCount(2);
  await expect(messages.getByText('New', { exact: true })).toHaveCount(0);
});

test('the inbox loads older messages page by page', async ({ home, page }) => {
  for (let number = 1; number <= 60; number++) await home.rpc('channels.test', { id: 'inbox', text: `Message ${number}` });
  await page.goto('/inbox');
  const messages = page.getByRole('list', { name: 'Messages' });
  await expect(messages.getByRole('listitem')).toHaveCount(50);
  await page.getByRole('button', { name: 'Load older' }).click();
  await expect(messages.getByRole('listitem')).toHaveCount(60);
  await expect(messages.getByText('Message 1', { exact: true })).toBeVisible();
});

test('the inbox counts all unread messages, marks all as read at once, and can be searched, filtered and emptied', async ({ home, page }) => {
  for (let number = 1; number <= 60; number++) await home.rpc('channels.test', { id: 'inbox', text: `Message ${number}` });
  await page.goto('/inbox');
  // 50 are shown, 60 are unread.
  await expect(page.getByRole('link', { name: /Inbox.*60 unread/ })).toBeVisible();
  await expect(page.getByRole('status').filter({ hasText: '60 unread' })).toBeVisible();
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await expect(page.getByRole('status').filter({ hasText: '0 unread' })).toBeVisible();
  await expect(page.getByRole('link', { name: /unread/ })).toHaveCount(0);
  await page.getByLabel('Unread only').check();
  await expect(page.getByText('All read', { exact: true })).toBeVisible();
  await page.getByLabel('Unread only').uncheck();
  await home.rpc('channels.test', { id: 'inbox', text: 'The build failed' });
  const messages = page.getByRole('list', { name: 'Messages' });
  await page.getByLabel('Unread only').check();
  await expect(messages.getByRole('listitem')).toHaveCount(1);
  await page.getByLabel('Unread only').uncheck();
  await page.getByRole('searchbox', { name: 'Search messages' }).fill('message 4');
  await expect(messages.getByRole('listitem')).toHaveCount(11);
  // The search is part of the URL.
  await page.reload();
  await expect(messages.getByRole('listitem')).toHaveCount(11);
  await page.getByRole('searchbox').fill('nothing of the kind');
  await page.getByRole('button', { name: 'Show all messages' }).click();
  const failed = messages.getByRole('listitem').filter({ hasText: 'The build failed' });
  await failed.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(failed).toHaveCount(0);
  const left = await home.rpc<{ messages: unknown[]; unread: number }>('inbox.list', { limit: 500 });
  expect([left.messages.length, left.unread]).toEqual([60, 0]);
});

test('the inbox deletes all read messages at once, and several that are selected', async ({ home, page }) => {
  for (let number = 1; number <= 6; number++) await home.rpc('channels.test', { id: 'inbox', text: `Message ${number}` });
  const { messages: sent } = await home.rpc<{ messages: { id: string }[] }>('inbox.list');
  for (const { id } of sent.slice(0, 2)) await home.rpc('inbox.mark_read', { id });
  await page.goto('/inbox');
  const messages = page.getByRole('list', { name: 'Messages' });
  const row = (text: string) => messages.getByRole('listitem').filter({ hasText: text });
  await expect(messages.getByRole('listitem')).toHaveCount(6);
  await page.getByRole('button', { name: 'Delete all read' }).click();
  const sure = page.getByRole('dialog', { name: 'Delete all read' });
  await expect(sure).toContainText('2 read messages will be permanently deleted');
  await sure.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByRole('paragraph').filter({ hasText: '2 messages deleted' })).toBeVisible();
  await expect(messages.getByRole('listitem')).toHaveCount(4);
  await expect(page.getByRole('button', { name: 'Delete all read' })).toHaveCount(0);

  await page.getByRole('button', { name: 'Select', exact: true }).press('Enter');
  await expect(page.getByRole('main').getByRole('button', { name: 'Cancel' })).toBeFocused();
  const remove = page.getByRole('button', { name: 'Delete selected' });
  await expect(remove).toBeDisabled();
  for (const text of ['Message 1', 'Message 2', 'Message 3']) await row(text).getByRole('checkbox').check();
  await row('Message 2').getByRole('checkbox').uncheck();
  await expect(page.getByText('2 selected')).toBeVisible();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), colorScheme).toEqual([]);
  }
  // Messages that a filter hides are not selected.
  await page.getByLabel('Unread only').check();
  await expect(page.getByText('0 selected')).toBeVisible();
  for (const text of ['Message 1', 'Message 3']) await row(text).getByRole('checkbox').check();
  await remove.click();
  const several = page.getByRole('dialog', { name: 'Delete messages' });
  await expect(several).toContainText('2 messages will be permanently deleted.');
  await several.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(messages.getByRole('listitem')).toHaveCount(2);
  await expect(page.getByRole('button', { name: 'Select', exact: true })).toBeVisible();
  await expect(row('Message 2')).toBeVisible();
  await expect(row('Message 4')).toBeVisible();

  // A message that another window deletes is no longer selected.
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  for (const text of ['Message 2', 'Message 4']) await row(text).getByRole('checkbox').check();
  await home.rpc('inbox.delete', { id: sent[4]?.id });
  await expect(page.getByText('1 selected')).toBeVisible();
});

test('a message of the inbox leads to its delivery', async ({ home, page }) => {
  const fields = { name: 'House', source_profile: 'codehost_a', deliver_only: true, deliver_to: 'inbox' };
  const { body } = await deliver(home, await makeWebhook(home, fields), pullRequest(7), { event: 'pull_request' });
  await page.goto('/inbox');
  await page.getByRole('list', { name: 'Messages' }).getByRole('link', { name: 'View delivery' }).click();
  await expect(page).toHaveURL(`${home.origin}/deliveries/${body.delivery_id}`);
  await expect(page.getByRole('region', { name: /Mend the gate/ })).toBeVisible();
});

test('keyboard-only use, accessibility in both themes, and no horizontal scroll at 320 px', async ({ home, page }) => {
  await home.rpc('channels.create', { type: 'ntfy', label: 'Phone', fields: { topic: 'home', token: 'tk_x' } });
  await page.goto('/channels');
  await page.getByRole('button', { name: 'Send a test through Inbox' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('link', { name: 'Open the inbox' })).toBeVisible();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('list', { name: 'Messages' }).getByRole('listitem')).toHaveCount(1);
  for (const place of ['/channels', '/channels?new', '/channels/ntfy', '/inbox']) {
    await page.goto(place);
    await expect(page.getByRole('main').getByRole('button').or(page.getByRole('main').getByRole('list')).first()).toBeVisible();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), colorScheme).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.setViewportSize({ width: 1280, height: 900 });
  }
});

test('the inbox shows the messages of a period', async ({ home, page }) => {
  await home.rpc('channels.test', { id: 'inbox', text: 'Just now' });
  await page.goto('/inbox');
  const messages = page.getByRole('list', { name: 'Messages' });
  await page.getByLabel('Time', { exact: true }).selectOption('Last hour');
  await expect(page).toHaveURL(/\?time=hour$/);
  await expect(messages.getByRole('listitem')).toHaveCount(1);
  const [from, until] = [new Date(Date.now() - 7_200_000), new Date(Date.now() - 3_600_000)].map((at) => at.toISOString());
  await page.goto(`/inbox?from=${from}&until=${until}`);
  await expect(page.getByText('No message matches this search and period.')).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await page.getByRole('button', { name: 'Show all messages' }).click();
  await expect(messages.getByRole('listitem')).toHaveCount(1);
});
