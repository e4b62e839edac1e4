// A spoken conversation with Chromium's fake microphone: it plays a recorded sentence and silence again and again, so the second
// time interrupts the answer to the first.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { SpeechVendor } from './fixtures/speech';
import { expect, test as base } from './fixtures/test';
import config from './playwright.config';

/** Samples per second of the recording, which is 16-bit mono. */
const RATE = 16_000;
const HEADER_BYTES = 44;
const SILENCE_SECONDS = 5;

/** The recording of the tests in Rust, followed by silence, as a file. */
function microphone(): string {
  const speech = readFileSync(join(import.meta.dirname, '../../crates/testkit/fixtures/speech.wav')).subarray(HEADER_BYTES);
  const samples = Buffer.concat([speech, Buffer.alloc(SILENCE_SECONDS * RATE * 2)]);
  const head = Buffer.alloc(HEADER_BYTES);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  const path = join(mkdtempSync(join(tmpdir(), 'gatehouse-microphone-')), 'speech.wav');
  writeFileSync(path, Buffer.concat([head, samples]));
  return path;
}

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
  // The microphone is closed: the next time, nothing is heard.
  await page.waitForTimeout((SILENCE_SECONDS + 4) * 1000);
  expect(vendor.listened.length).toBe(heard);
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
