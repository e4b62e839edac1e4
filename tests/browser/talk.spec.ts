// A spoken conversation with Chromium's fake microphone: it plays a recorded sentence and silence again and again, so the second
// time interrupts the answer to the first.
import { violations } from './fixtures/axe';
import { firstVisit, press } from './fixtures/entering';
import { microphone, SILENCE_SECONDS } from './fixtures/microphone';
import { ModelServer } from './fixtures/model';
import { SpeechVendor } from './fixtures/speech';
import { expect, test as base } from './fixtures/test';
import config from './playwright.config';

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
const { launchOptions } = config.use!;
test.use({
  permissions: ['microphone'],
  launchOptions: {
    ...launchOptions,
    args: [...(launchOptions?.args ?? []), `--use-file-for-fake-audio-capture=${microphone()}`],
  },
});

interface Message {
  role: string;
  content: string;
  stop?: string;
  heard?: string;
}

test('talk with an agent, interrupt it, and hang up', async ({ home, page, vendor, model }) => {
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Hello' });
  const sentence = 'This is a sentence of a long answer that nobody wants to hear to its end. ';
  model.next({ text: [sentence.repeat(20)] });
  model.next({ text: ['This is the second answer.'] });
  await page.goto(`${home.origin}/chat/${session}`);
  await page.getByRole('button', { name: 'Talk' }).click();
  const panel = page.getByRole('dialog', { name: 'Spoken conversation' });
  const status = panel.getByRole('status');
  await expect(status).toHaveText('Speaking');
  await expect(panel.getByText('You said: turn the lights on')).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await expect(panel.getByRole('button', { name: 'Stop speaking' })).toBeVisible();
  // The sentence is said again while the answer is spoken.
  await expect(status).toHaveText('Hearing you…');
  await expect.poll(() => vendor.listened.length).toBeGreaterThan(1);
  expect(vendor.listened[0]!.fileName).toMatch(/\.wav$/);
  const messages = async () => (await home.rpc<{ messages: Message[] }>('chat.history', { session })).messages;
  const interrupted = async () => (await messages()).find(({ stop }) => stop === 'aborted');
  await expect.poll(async () => (await interrupted())?.heard ?? '').toMatch(/^This is a sentence/);
  expect((await interrupted())!.heard!.length).toBeLessThan(sentence.length * 19);
  await expect(panel.getByText('This is the second answer.')).toBeVisible();
  await panel.getByRole('button', { name: 'End the conversation' }).click();
  await expect(panel).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Talk' })).toBeFocused();
  const heard = vendor.listened.length;
  // The microphone is closed: the next attempt receives no audio.
  await page.waitForTimeout((SILENCE_SECONDS + 4) * 1000);
  expect(vendor.listened.length).toBe(heard);
});

test.describe('from nothing', () => {
  test.use({ environment: {} });

  test('by the page alone: a model, speech and transcription are set up, and the conversation is interrupted', async ({ page, vendor, model }) => {
    await firstVisit(page, model.url);
    await press(page, 'Continue');
    await press(page, 'Skip for now');
    await page.getByRole('link', { name: 'Open settings' }).click();
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Voice' }).click();
    for (const part of ['Speaking', 'Listening']) {
      if (part === 'Listening') await page.getByRole('link', { name: part }).click();
      await page.getByRole('button', { name: 'Set up OpenAI' }).click();
      const dialog = page.getByRole('dialog', { name: 'Set up OpenAI' });
      await dialog.getByLabel('API key', { exact: true }).fill(vendor.key);
      await dialog.getByLabel('Address').fill(vendor.url);
      await dialog.getByRole('button', { name: 'Save and test' }).click();
      await expect(dialog).toHaveCount(0);
    }
    const tested = vendor.listened.length;
    const sentence = 'This is a sentence of a long answer that nobody wants to hear to its end. ';
    model.next({ text: [sentence.repeat(20)] });
    model.next({ text: ['This is the second answer.'] });
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Chat' }).click();
    await page.getByRole('button', { name: 'Talk' }).click();
    const panel = page.getByRole('dialog', { name: 'Spoken conversation' });
    await expect(panel.getByRole('status')).toHaveText('Speaking');
    await expect(panel.getByText('This is the second answer.')).toBeVisible();
    expect(vendor.listened.length).toBeGreaterThan(tested + 1);
    await panel.getByRole('button', { name: 'End the conversation' }).click();
    await expect(panel).toHaveCount(0);
    // The conversation shows up to where the first answer was heard, and is named after its first words. On a slow
    // machine the next repetition interrupts the second answer as well.
    await expect(page.getByText(/^You interrupted the answer after/).first()).toBeVisible();
    await expect(page.getByRole('heading', { level: 1, name: /^turn the lights on/i })).toBeVisible();
  });
});

test('the page says why a conversation does not begin', async ({ home, page, complaints }) => {
  complaints.allow(/WebSocket/);
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Hello' });
  await home.rpc('config.set', { key: 'voice.stt.enabled', value: false });
  await page.goto(`${home.origin}/chat/${session}`);
  await page.getByRole('button', { name: 'Talk' }).click();
  const panel = page.getByRole('dialog', { name: 'Spoken conversation' });
  await expect(panel.getByRole('alert')).toBeVisible();
  await panel.getByRole('button', { name: 'Close' }).click();
  await expect(panel).toHaveCount(0);
});
