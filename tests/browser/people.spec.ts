// Channels: people who write to an agent through Telegram are approved, trusted and unpaired on the page; why a channel receives
// nothing is shown with what to do.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { Telegram, TOKEN } from './fixtures/telegram';
import { expect, test as base, type Gateway } from './fixtures/test';

const test = base.extend<{ model: ModelServer; telegram: Telegram }>({
  model: async ({}, use) => {
    const model = await ModelServer.start();
    await use(model);
    await model.close();
  },
  environment: async ({ model }, use) => use(model.environment),
  telegram: async ({}, use) => {
    const telegram = await Telegram.start();
    await use(telegram);
    await telegram.close();
  },
});

const connect = (home: Gateway, telegram: Telegram, token = TOKEN) =>
  home.rpc('channels.create', {
    type: 'telegram',
    label: 'Family bot',
    fields: { bot_token: token, base_url: telegram.url, inbound: true },
  });
const people = (page: Page) => page.getByRole('list', { name: 'People' });
const person = (page: Page, name: string) => people(page).getByRole('listitem').filter({ hasText: name });

test('a person appears with a code, is approved, trusted, no longer trusted, and unpaired', async ({ home, page, telegram, model }) => {
  await connect(home, telegram);
  await page.goto('/channels');
  await expect(page.getByText('No people yet')).toBeVisible();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();

  // Names can be misleading: a second person calls herself the same.
  telegram.write(42, 'Ada', '/start');
  const ada = people(page).getByRole('listitem').filter({ hasText: 'ID 42' });
  await expect(ada).toContainText('Waits for approval');
  await expect.poll(() => telegram.sent.length).toBe(1);
  const code = /code is ([A-Z0-9]{4}-[A-Z0-9]{4})/.exec(telegram.sent[0]?.text ?? '')?.[1] ?? '';
  await expect(ada.getByText(code, { exact: true })).toBeVisible();
  telegram.write(43, 'Ada', 'hello');
  await expect(people(page).getByRole('listitem')).toHaveCount(2);

  await ada.getByRole('button', { name: 'Approve Ada' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve this person?' });
  await expect(dialog.getByText(code, { exact: true })).toBeVisible();
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await expect(ada.getByText('Paired', { exact: true })).toBeVisible();
  const other = people(page).getByRole('listitem').filter({ hasText: 'ID 43' });
  await other.getByRole('button', { name: 'Refuse Ada' }).click();
  await page.getByRole('dialog', { name: 'Refuse this person?' }).getByRole('button', { name: 'Refuse' }).click();
  await expect(other).toHaveCount(0);

  // Only the approved person gets an answer.
  model.next({ text: ['Welcome.'] });
  telegram.write(42, 'Ada', 'What is new?');
  await expect.poll(() => telegram.sent.at(-1)).toEqual({ chat_id: 42, text: 'Welcome.' });

  await ada.getByRole('button', { name: 'Actions for Ada' }).click();
  await page.getByRole('menuitem', { name: 'Trust', exact: true }).click();
  await page.getByRole('dialog', { name: 'Trust this person?' }).getByRole('button', { name: 'Trust' }).click();
  await expect(ada.getByText('Trusted', { exact: true })).toBeVisible();
  await ada.getByRole('button', { name: 'Actions for Ada' }).click();
  await page.getByRole('menuitem', { name: 'Stop trusting' }).click();
  await expect(ada.getByText('Paired', { exact: true })).toBeVisible();
  await ada.getByRole('button', { name: 'Actions for Ada' }).click();
  await page.getByRole('menuitem', { name: 'Unpair' }).click();
  await page.getByRole('dialog', { name: 'Unpair this person?' }).getByRole('button', { name: 'Unpair' }).click();
  await expect(page.getByText('No people yet')).toBeVisible();
  expect((await home.rpc<{ people: unknown[] }>('pairing.people')).people).toEqual([]);

  await page.goto('/settings/security/audit-log');
  const log = page.getByRole('list', { name: 'Audit log' });
  await expect(log.getByText('Person paired with a channel', { exact: true })).toBeVisible();
  await expect(log.getByText('Person unpaired from a channel', { exact: true })).toHaveCount(2);
});

test('a person can be approved as trusted at once', async ({ home, page, telegram }) => {
  await connect(home, telegram);
  telegram.write(42, 'Ada', '/start');
  await page.goto('/overview');
  await page.getByRole('link', { name: '1 person waits to be paired with a channel' }).click();
  await person(page, 'Ada').getByRole('button', { name: 'Approve Ada' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve this person?' });
  await dialog.getByLabel('Treat their messages as mine').check();
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await expect(person(page, 'Ada').getByText('Trusted', { exact: true })).toBeVisible();
});

test('why a channel receives nothing is shown, goes away, and leads to the form', async ({ home, page, telegram }) => {
  await page.goto('/channels');
  await expect(page.getByText('No channels yet')).toBeVisible();
  await connect(home, telegram, '1:wrong');
  const row = page.getByRole('list', { name: 'Your channels' }).getByRole('listitem').filter({ hasText: 'Family bot' });
  await expect(row.getByText('Receiving has a problem')).toBeVisible();
  await page.goto('/overview');
  await page.getByRole('link', { name: 'Channel “Family bot” has a problem with receiving messages' }).click();
  await expect(row).toContainText('Telegram refused the bot token. Enter the current one.');
  await row.getByRole('link', { name: 'Edit channel' }).click();
  await expect(page.getByText('Telegram refused the bot token.')).toBeVisible();
  await page.getByRole('textbox', { name: 'Bot token' }).fill(TOKEN);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Receiving has a problem')).toHaveCount(0);
});

test('a bot with a webhook says so without code marks', async ({ home, page, telegram }) => {
  telegram.hasWebhook = true;
  await connect(home, telegram);
  await page.goto('/channels');
  await expect(page.getByText('Delete it with “deleteWebhook”.')).toBeVisible();
});

test('the list has no axe violation in either theme and does not scroll sideways at 320 px', async ({ home, page, telegram }) => {
  await connect(home, telegram);
  telegram.write(42, 'Bartholomew Featherstonehaugh-Montgomery the Second', '/start');
  telegram.write(43, 'Ada', '/start');
  await page.goto('/channels');
  await expect(people(page).getByRole('listitem')).toHaveCount(2);
  const { people: listed } = await home.rpc<{ people: { code: string }[] }>('pairing.people');
  await home.rpc('pairing.approve', { code: listed[0]?.code });
  await expect(people(page).getByText('Paired', { exact: true })).toBeVisible();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await violations(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
});
