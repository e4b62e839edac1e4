// The list of conversations: people's and webhooks' apart, pinned, archived, deleted together, exported.
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { isLive } from './fixtures/entering';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, type Gateway } from './fixtures/test';
import { test } from './fixtures/with-model';

const list = (page: Page) => page.getByRole('list', { name: 'Conversations' });
const say = (gateway: Gateway, text: string) => gateway.rpc<{ session: string }>('chat.send_sync', { text });
const act = async (page: Page, name: string, action: string) => {
  await page.getByRole('button', { name: `Actions for ${name}` }).first().click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
};

test('conversations of people and of webhooks are apart', async ({ home, page }) => {
  await say(home, 'What is due today?');
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  await deliver(home, hook, pullRequest(42, 'Make the checkout faster'), { event: 'pull_request' });
  await page.goto('/chat');
  await isLive(page);
  await expect(list(page).getByRole('link', { name: /What is due today/ })).toBeVisible();
  await expect(list(page).getByText(/Make the checkout faster/)).toHaveCount(0);
  await page.getByRole('button', { name: 'Webhooks', exact: true }).click();
  await expect(list(page).getByRole('link', { name: /Make the checkout faster/ })).toBeVisible();
  await expect(list(page).getByText('What is due today?')).toHaveCount(0);
  expect(await violations(page)).toEqual([]);
});

test('the list shows the conversation that a link opens, and then what the user chooses', async ({ home, page }) => {
  await say(home, 'What is due today?');
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  const { body } = await deliver(home, hook, pullRequest(42, 'Make the checkout faster'), { event: 'pull_request' });
  await page.goto(`/deliveries/${body.delivery_id}`);
  await page.getByRole('link', { name: 'Open conversation' }).click();
  const webhooks = page.getByRole('button', { name: 'Webhooks', exact: true });
  await expect(webhooks).toHaveAttribute('aria-pressed', 'true');
  await expect(list(page).getByRole('link', { name: /Make the checkout faster/ })).toHaveAttribute('aria-current', 'page');
  await page.getByRole('button', { name: 'Yours', exact: true }).click();
  await expect(list(page).getByRole('link', { name: /What is due today/ })).toBeVisible();
  await expect(webhooks).toHaveAttribute('aria-pressed', 'false');
});

test('a search without results names the other lists that have some', async ({ home, page }) => {
  await say(home, 'What is due today?');
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  await deliver(home, hook, pullRequest(42, 'Make the checkout faster'), { event: 'pull_request' });
  await page.goto('/chat');
  await isLive(page);
  await page.getByRole('searchbox', { name: 'Search conversations' }).fill('checkout');
  const note = page.getByRole('group', { name: 'Found in:' });
  await expect(page.getByText('No conversations match “checkout”.')).toBeVisible();
  await expect(note.getByRole('button')).toHaveText(['Webhooks']);
  expect(await violations(page)).toEqual([]);
  await note.getByRole('button', { name: 'Webhooks' }).press('Enter');
  await expect(list(page).getByRole('link', { name: /Make the checkout faster/ })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Webhooks', exact: true })).toBeFocused();
  await page.getByRole('searchbox', { name: 'Search conversations' }).fill('in no conversation');
  await expect(page.getByText('No conversations match “in no conversation”.')).toBeVisible();
  await expect(note).toHaveCount(0);
});

test('what a search finds is read once, after typing has paused', async ({ home, page }) => {
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  await deliver(home, hook, pullRequest(42, 'Make the checkout faster'), { event: 'pull_request' });
  await page.goto('/chat');
  await isLive(page);
  await page.evaluate(() => {
    const said: string[] = [];
    Object.assign(window, { said });
    new MutationObserver(() => {
      const texts = [...document.querySelectorAll('aside [role=status]')].map((one) => one.textContent?.trim().replace(/\s+/g, ' '));
      const text = texts.filter(Boolean).join(' ');
      if (text && text !== said.at(-1)) said.push(text);
    }).observe(document.body, { childList: true, characterData: true, subtree: true });
  });
  // The timers of the page run in the same order however slow the machine is.
  await page.getByRole('searchbox', { name: 'Search conversations' }).evaluate(async (box: HTMLInputElement) => {
    for (const text of ['ch', 'che', 'chec', 'check']) {
      box.value = text;
      box.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
  });
  const said = () => page.evaluate(() => (window as never as { said: string[] }).said);
  await expect.poll(said).toEqual(['0 found Found in: Webhooks']);
  // A refreshed list is not read again.
  await say(home, 'What is due today?');
  await expect(page.getByRole('group', { name: 'Found in:' })).toBeVisible();
  expect(await said()).toEqual(['0 found Found in: Webhooks']);
});

test('a pinned conversation is first, and an archived one is out of the way until it is restored', async ({ home, page }) => {
  for (const text of ['Oldest', 'Middle', 'Newest']) await say(home, text);
  await page.goto('/chat');
  await isLive(page);
  const items = list(page).getByRole('listitem');
  await expect(items).toHaveCount(3);
  await act(page, 'Oldest', 'Pin');
  await expect(items.first()).toContainText('Oldest');
  await act(page, 'Middle', 'Archive');
  await expect(items).toHaveCount(2);
  await page.reload();
  await expect(items.first()).toContainText('Oldest');
  await page.getByRole('button', { name: 'Archived', exact: true }).click();
  await expect(items).toHaveText([/Middle/]);
  await act(page, 'Middle', 'Restore');
  await expect(page.getByText('No archived conversations.')).toBeVisible();
  await page.getByRole('button', { name: 'Yours', exact: true }).click();
  await expect(items).toHaveCount(3);
});

test('conversations are found by the tags that a person gives them', async ({ home, page }) => {
  for (const text of ['Paint the fence', 'Buy paint', 'Call the bank']) await say(home, text);
  await page.goto('/chat');
  await isLive(page);
  const items = list(page).getByRole('listitem');
  await expect(items).toHaveCount(3);
  // Without a tag there is nothing to filter by.
  await expect(page.getByLabel('Tag', { exact: true })).toHaveCount(0);
  const dialog = page.getByRole('dialog', { name: 'Tags of the conversation' });
  await act(page, 'Paint the fence', 'Tags');
  await dialog.getByLabel('Tags', { exact: true }).fill('Garden, urgent, GARDEN');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(items.filter({ hasText: 'Paint the fence' })).toContainText('Garden');
  await act(page, 'Buy paint', 'Tags');
  await dialog.getByRole('button', { name: 'Garden', exact: true }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByLabel('Tag', { exact: true }).selectOption('Garden');
  await expect(items).toHaveCount(2);
  await page.getByLabel('Tag', { exact: true }).selectOption('urgent');
  await expect(items).toHaveText([/Paint the fence/]);
  expect(await violations(page)).toEqual([]);
  // The filter ends with the last conversation that has the tag.
  await act(page, 'Paint the fence', 'Tags');
  await dialog.getByLabel('Tags', { exact: true }).fill('x'.repeat(41));
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByText(/40 characters/)).toBeVisible();
  await dialog.getByLabel('Tags', { exact: true }).fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(items).toHaveCount(3);
});

test('conversations of a period are those with a message in it', async ({ home, page }) => {
  await say(home, 'Said just now');
  await page.goto('/chat');
  await isLive(page);
  const time = page.getByLabel('Time', { exact: true });
  await time.selectOption('Last hour');
  await expect(list(page).getByRole('link', { name: /Said just now/ })).toBeVisible();
  await time.selectOption('Choose a period');
  const dialog = page.getByRole('dialog', { name: 'Choose a period' });
  await dialog.getByLabel('From').fill('2020-01-01T00:00');
  await dialog.getByLabel('Until').fill('2020-01-02T00:00');
  await dialog.getByRole('button', { name: 'Show' }).click();
  await expect(page.getByText('No conversations in this period.')).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await time.selectOption('Any time');
  await expect(list(page).getByRole('link', { name: /Said just now/ })).toBeVisible();
});

test('several conversations are deleted at once, and one is exported', async ({ home, page }) => {
  for (const text of ['Keep me', 'Drop one', 'Drop two']) await say(home, text);
  await page.goto('/chat');
  await isLive(page);
  const items = list(page).getByRole('listitem');
  await page.getByRole('button', { name: 'Select', exact: true }).press('Enter');
  await expect(page.getByRole('complementary').getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.getByRole('checkbox', { name: 'Select: Drop one' }).check();
  await page.getByRole('checkbox', { name: 'Select: Drop two' }).check();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('complementary').getByRole('button', { name: 'Delete', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete conversations' });
  await expect(dialog).toContainText('2 conversations');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(items).toHaveText([/Keep me/]);
  const download = page.waitForEvent('download');
  await act(page, 'Keep me', 'Export');
  const text = readFileSync((await (await download).path()) ?? '', 'utf8');
  expect(text).toMatch(/^# Keep me\n\n## You · .+\n\nKeep me\n\n## .+ · .+\n\nYou said: Keep me\n$/);
});
