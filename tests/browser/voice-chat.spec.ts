// Speaking with an agent: record, transcribe, correct and send; the spoken answer plays and downloads as the provider sent it.
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { ATTEMPTS, SpeechVendor } from './fixtures/speech';
import { expect, test as base } from './fixtures/test';

const test = base.extend<{ vendor: SpeechVendor; model: ModelServer }>({
  vendor: async ({}, use) => {
    const vendor = await SpeechVendor.start();
    await use(vendor);
    await vendor.close();
  },
  model: async ({}, use) => {
    const model = await ModelServer.start();
    await use(model);
    await model.close();
  },
  environment: async ({ vendor, model }, use) => use({ ...vendor.environment, ...model.environment }),
});
test.use({ permissions: ['microphone'] });

/** Counts the sounds that the page plays from now on. */
async function listen(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    const counted = window as Window & { sounds?: number };
    const { start } = AudioBufferSourceNode.prototype;
    AudioBufferSourceNode.prototype.start = function (...when) {
      counted.sounds = (counted.sounds ?? 0) + 1;
      start.apply(this, when);
    };
  });
  return () => page.evaluate(() => (window as Window & { sounds?: number }).sounds ?? 0);
}

test('record, correct the transcript, send; the answer is spoken in the chosen mode', async ({
  home,
  page,
  vendor,
  model,
  complaints,
}) => {
  // The browser logs the provider error that this test provokes below.
  complaints.allow(/status of 502/);
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Hello' });
  const sounds = await listen(page);
  await page.goto(`${home.origin}/chat/${session}`);
  await page.getByRole('button', { name: 'Spoken answers: off' }).click();
  await page.getByRole('radio', { name: 'When I speak' }).check();
  await expect(page.getByRole('button', { name: 'Spoken answers: on' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 320, height: 640 });
  await page.getByRole('button', { name: 'Record a message' }).click();
  const panel = page.getByRole('dialog', { name: 'Spoken message' });
  await expect(panel.getByRole('timer')).toHaveText(/^0:0[1-9]$/);
  expect(await violations(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  vendor.fail(500, ATTEMPTS);
  await panel.getByRole('button', { name: 'Stop' }).click();
  await panel.getByRole('button', { name: 'Try again' }).click();
  await expect(panel.getByLabel('Transcript')).toHaveValue('turn the lights on');
  await expect(panel.getByLabel('Transcript')).toBeFocused();
  await panel.getByLabel('Transcript').fill('turn the lights off');
  await page.keyboard.press('Enter');
  await expect(panel).toHaveCount(0);
  await expect.poll(() => model.asked.length).toBe(2);
  expect(model.asked[1]!.messages.findLast(({ role }) => role === 'user')?.content).toContain('turn the lights off');
  const answer = page.getByRole('group', { name: 'Spoken answer' }).last();
  await expect.poll(() => vendor.spoken.length).toBe(1);
  await page.setViewportSize({ width: 1280, height: 900 });
  // It is played once and is then a recording.
  await expect.poll(sounds).toBe(1);
  await expect(page.getByRole('button', { name: 'Stop speaking' })).toHaveCount(0);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    answer.getByRole('button', { name: 'Download the audio' }).click(),
  ]);
  expect(readFileSync(await download.path()).equals(vendor.sent[0]!)).toBe(true);
});

test('a conversation that begins with a recording is named after its words', async ({ home, page, model: _ }) => {
  await page.goto(`${home.origin}/chat`);
  await page.getByRole('button', { name: 'Record a message' }).click();
  const panel = page.getByRole('dialog', { name: 'Spoken message' });
  await expect(panel.getByRole('timer')).toHaveText(/^0:0[1-9]$/);
  await panel.getByRole('button', { name: 'Stop' }).click();
  await expect(panel.getByLabel('Transcript')).toHaveValue('turn the lights on');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'turn the lights on' })).toBeVisible();
  const list = page.getByRole('list', { name: 'Conversations' });
  await expect(list.getByRole('listitem')).toHaveText([/turn the lights on/]);
  await page.reload();
  await expect(list.getByRole('listitem')).toHaveText([/turn the lights on/]);
});

test('a recording discarded with Escape can be restored', async ({ home, page, vendor }) => {
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Hello' });
  await page.goto(`${home.origin}/chat/${session}`);
  await page.getByRole('button', { name: 'Record a message' }).click();
  const panel = page.getByRole('dialog', { name: 'Spoken message' });
  await expect(panel.getByRole('timer')).toHaveText(/^0:0[1-9]$/);
  await page.keyboard.press('Escape');
  await expect(panel).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Record a message' })).toBeFocused();
  await page.getByRole('button', { name: 'Undo' }).click();
  await panel.getByRole('button', { name: 'Transcribe' }).click();
  await expect(panel.getByLabel('Transcript')).toHaveValue('turn the lights on');
  expect(vendor.listened).toHaveLength(1);
});

test('the persona is changed in the chat, and the answer uses it', async ({ home, page, vendor }) => {
  await home.rpc('voice.personas.create', {
    label: 'Narrator',
    providerBindings: [{ provider: 'openai', voice_id: 'onyx' }],
  });
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Hello' });
  await page.goto(`${home.origin}/chat/${session}`);
  await page.getByRole('button', { name: 'Spoken answers: off' }).click();
  await page.getByRole('radio', { name: 'Always' }).check();
  await page.getByRole('radio', { name: 'Narrator' }).check();
  await expect.poll(async () => (await home.rpc<{ active: string | null }>('voice.personas.list')).active).toBe('narrator');
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'Message' }).fill('Say something');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: 'Spoken answer' })).toBeVisible();
  expect(vendor.spoken.map(({ voice }) => voice)).toEqual(['onyx']);
});

test('an answer is heard while it is written, and typing ends it', async ({ home, page, vendor, model }) => {
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Hello' });
  await home.rpc('config.set', { key: 'voice.tts.auto', value: 'always' });
  await page.goto(`${home.origin}/chat/${session}`);
  const first = 'This is a first sentence that takes quite a while to be spoken by anybody who speaks.';
  model.next({ text: [`${first} And `, 'here is the second one.'], hold: true });
  await page.getByRole('textbox', { name: 'Message' }).fill('Tell me something');
  await page.keyboard.press('Enter');
  const stop = page.getByRole('button', { name: 'Stop speaking' });
  await expect(stop).toBeVisible();
  expect(vendor.spoken.map(({ input }) => input)).toEqual([first]);
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('textbox', { name: 'Message' }).fill('Wait');
  await expect(stop).toHaveCount(0);
  model.go();
  // The recording of the whole answer can still be played.
  const answer = page.getByRole('group', { name: 'Spoken answer' });
  await expect(answer.getByRole('button', { name: 'Play' })).toBeVisible();
  expect(vendor.spoken).toHaveLength(2);
});

test('an answer that begins before its player has loaded is heard from the beginning', async ({ home, page, vendor, model }) => {
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Hello' });
  await home.rpc('config.set', { key: 'voice.tts.auto', value: 'always' });
  const sounds = await listen(page);
  let load: () => void = () => {};
  const loading = new Promise<void>((resolve) => (load = resolve));
  await page.route(/\/assets\/parts-[^/]+\.js$/, async (route) => {
    await loading;
    await route.continue();
  });
  await page.goto(`${home.origin}/chat/${session}`);
  model.next({ text: ['This is spoken at once, whoever may listen to it. And ', 'this follows.'], hold: true });
  await page.getByRole('textbox', { name: 'Message' }).fill('Tell me something');
  await page.keyboard.press('Enter');
  await expect.poll(() => vendor.sent.length).toBe(1);
  await expect(page.getByText('This is spoken at once')).toBeVisible();
  expect(await sounds()).toBe(0);
  load();
  await expect(page.getByRole('button', { name: 'Stop speaking' })).toBeVisible();
  model.go();
  await expect.poll(sounds).toBe(2);
});

test('what is said before a tool call is heard before the answer', async ({ home, page, vendor, model }) => {
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Hello' });
  await home.rpc('config.set', { key: 'voice.tts.auto', value: 'always' });
  const sounds = await listen(page);
  await page.goto(`${home.origin}/chat/${session}`);
  const before = 'I will calculate this for you, which takes only a moment of your time.';
  model.next({ text: [before], tool: { name: 'calc', arguments: { expression: '2 * 21' } } });
  model.next({ text: ['The result is forty-two.'] });
  await page.getByRole('textbox', { name: 'Message' }).fill('What is 2 * 21?');
  await page.keyboard.press('Enter');
  await expect.poll(() => vendor.spoken.map(({ input }) => input)).toEqual([before, 'The result is forty-two.']);
  await expect.poll(sounds).toBe(2);
  await expect(page.getByRole('button', { name: 'Stop speaking' })).toHaveCount(0);
  await expect(page.getByRole('group', { name: 'Spoken answer' })).toHaveCount(2);
});

test('an empty conversation and a recording say how long they are kept', async ({ home, page, model: _ }) => {
  await page.goto(`${home.origin}/chat`);
  await expect(page.getByText('Conversations are kept until you delete them.')).toBeVisible();
  await home.rpc('config.set', { key: 'agents.retention_days', value: 30 });
  await expect(page.getByText('A conversation is deleted 30 days after its last message')).toBeVisible();
  await expect(page.getByText('Conversations are kept until you delete them.')).toHaveCount(0);
  await home.rpc('config.set', { key: 'agents.audio_retention_days', value: 1 });
  await home.rpc('config.set', { key: 'voice.tts.auto', value: 'always' });
  await expect(page.getByText('Audio is kept for at most 1 day.')).toBeVisible();
  await page.getByRole('textbox', { name: 'Message' }).fill('Say something');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: 'Spoken answer' }).getByRole('button', { name: 'Play' })).toBeVisible();
  await expect(page.getByText('Audio is kept for at most 1 day.')).toBeVisible();
});
