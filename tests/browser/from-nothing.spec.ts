// From an empty gateway to an agent that reaches its owner elsewhere, by the page alone: a schedule whose answers go to a channel,
// and a Telegram account whose owner asks and approves there. The tests make no API calls: they start the vendors, and write and
// press in the chat as a person does. A spoken conversation from nothing is in talk.spec.ts.
import type { Page } from '@playwright/test';
import { firstVisit, heading, isLive, press } from './fixtures/entering';
import { ModelServer, textOf } from './fixtures/model';
import { receiver } from './fixtures/receiver';
import { Telegram, TOKEN } from './fixtures/telegram';
import { expect, test as base } from './fixtures/test';

const test = base.extend<{ model: ModelServer; telegram: Telegram }>({
  model: async ({}, use) => {
    const model = await ModelServer.start();
    await use(model);
    await model.close();
  },
  telegram: async ({}, use) => {
    const telegram = await Telegram.start();
    await use(telegram);
    await telegram.close();
  },
});

const nav = (page: Page, name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();

/** Ends the first visit without a webhook. */
async function finish(page: Page): Promise<void> {
  await expect(heading(page, 'Create your first webhook')).toBeVisible();
  await press(page, 'Skip for now');
  await expect(heading(page, 'You’re all set')).toBeVisible();
  await page.getByRole('link', { name: 'View deliveries' }).click();
  await isLive(page);
}

test('a schedule asks an agent each morning, and its answer goes to a channel', async ({ page, model }) => {
  const house = await receiver();
  await firstVisit(page, model.url);
  await page.getByLabel('Channel').selectOption('HTTP receiver');
  await page.getByLabel('URL', { exact: true }).fill(house.url);
  await press(page, 'Save and send a test message');
  await expect(page.getByText('HTTP receiver accepted the test message.')).toBeVisible();
  await press(page, 'Continue');
  await finish(page);

  await nav(page, 'Webhooks');
  await page.getByRole('link', { name: 'New webhook' }).click();
  await page.getByRole('button', { name: /^Schedule/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Morning report');
  await page.getByLabel('Cron pattern').fill('0 8 * * *');
  await page.getByLabel('Time zone').selectOption('Europe/Berlin');
  const runs = page.getByRole('list', { name: 'Next runs' }).getByRole('listitem');
  await expect(runs).toHaveCount(5);
  await expect(runs.first()).toContainText('8:00');
  await page.getByLabel('What should the agent do?').fill('Say what is due today.');
  await page.getByLabel('Send the answer to').selectOption('HTTP receiver');
  await press(page, 'Create webhook');
  await expect(page.getByText('Every day at 8:00', { exact: false })).toBeVisible();
  await expect(runs).toHaveCount(5);

  // The next morning is far away: the page starts a run now, then the clock does at an interval.
  const heard = () => house.received.map(({ body }) => body.text);
  model.next({ text: ['Today: water the plants.'] });
  await press(page, 'Send test');
  await expect(page.getByText('Completed', { exact: true }).first()).toBeVisible();
  await expect.poll(() => heard().at(-1)).toBe('Today: water the plants.');
  expect(model.asked[0]!.messages.map(({ content }) => textOf(content)).join('\n')).toContain('Say what is due today.');
  model.next({ text: ['Today: nothing.'] });
  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByLabel('At an interval').check();
  await page.getByLabel('Every', { exact: true }).fill('1');
  await page.getByLabel('Unit').selectOption('Seconds');
  await press(page, 'Save changes');
  await expect.poll(heard).toContain('Today: nothing.');
  await page.getByRole('switch').first().click();
  await page.getByRole('tab', { name: 'Setup' }).click();
  await expect(page.getByText('Off: there are no runs.')).toBeVisible();
  await house.close();
});

test('a Telegram account: its owner pairs, asks, and approves from there', async ({ page, model, telegram }) => {
  await firstVisit(page, model.url);
  await press(page, 'Continue');
  await finish(page);

  // The agent asks before it calculates.
  await nav(page, 'Agents');
  await page.getByRole('main').getByRole('link', { name: 'Default', exact: true }).click();
  await page.getByLabel(/^Tools that need approval/).fill('calc');
  await press(page, 'Save');
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('saved')).toBeVisible();

  await nav(page, 'Channels');
  await page.getByRole('link', { name: 'New channel' }).click();
  await page.getByRole('list', { name: 'Channel types' }).getByRole('link', { name: /^Telegram/ }).click();
  await page.getByLabel('Label', { exact: true }).fill('My phone');
  await page.getByRole('textbox', { name: 'Bot token' }).fill(TOKEN);
  await page.getByLabel(/^Server/).fill(telegram.url);
  await page.getByRole('switch', { name: 'Receive messages' }).check();
  await press(page, 'Add channel');
  await expect(heading(page, 'My phone')).toBeVisible();

  // A stranger gets a code and nothing else. The page shows the same code.
  telegram.write(42, 'Ada', 'Hello');
  await expect.poll(() => telegram.sent.length).toBe(1);
  const code = /code is ([A-Z0-9]{4}-[A-Z0-9]{4})/.exec(telegram.sent[0]!.text)?.[1] ?? '';
  expect(model.asked).toHaveLength(0);
  await nav(page, 'Channels');
  const ada = page.getByRole('list', { name: 'People' }).getByRole('listitem').filter({ hasText: 'Ada' });
  await ada.getByRole('button', { name: 'Approve Ada' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve this person?' });
  await expect(dialog.getByText(code, { exact: true })).toBeVisible();
  await dialog.getByLabel('Treat their messages as mine').check();
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await expect(ada.getByText('Trusted', { exact: true })).toBeVisible();

  // The owner asks; the page shows the same question as the chat, and the answer there counts.
  model.next({ tool: { name: 'calc', arguments: { expression: '6 * 7' } } });
  model.next({ text: ['It is 42.'] });
  telegram.write(42, 'Ada', 'What is 6 times 7?');
  const asked = page.getByRole('region', { name: 'Allow the agent to use “calc”?' });
  await expect(asked.getByRole('group', { name: 'Input' })).toContainText('6 * 7');
  const labels = () => telegram.shown.at(-1)?.buttons.flat().map(({ text }) => text);
  await expect.poll(labels).toEqual(['Allow', 'Deny', 'Always in this session', 'Always with these arguments']);
  expect(telegram.shown.at(-1)!.text).toContain('6 * 7');
  const press_id = telegram.press(42, 'Ada', 'Allow');
  await expect.poll(() => telegram.pressAnswers.get(press_id)).toBe('Allowed.');
  await expect(asked).toHaveCount(0);
  await expect.poll(() => telegram.sent.at(-1)).toEqual({ chat_id: 42, text: 'It is 42.' });
  expect(JSON.stringify(model.asked.at(-1)!.messages)).toContain('42');

  // The conversation is in the page, with the name of the person who allowed the call.
  await nav(page, 'Chat');
  await page.getByRole('list', { name: 'Conversations' }).getByRole('link', { name: /^Ada/ }).click();
  const card = page.getByRole('region', { name: 'Messages' }).getByRole('group').filter({ hasText: 'calc' });
  await card.getByText('calc').click();
  await expect(card.getByText('Allowed by Ada through My phone')).toBeVisible();
});
