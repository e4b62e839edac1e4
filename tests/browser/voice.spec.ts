// Settings → Voice: text to speech, speech to text, tests of both, and personas. Audio is compared byte for byte with
// what the provider sent.
import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { ATTEMPTS, SpeechVendor } from './fixtures/speech';
import { expect, PASSWORD, secondWindow, test as base } from './fixtures/test';

const test = base.extend<{ vendor: SpeechVendor }>({
  vendor: async ({}, use) => {
    const vendor = await SpeechVendor.start();
    await use(vendor);
    await vendor.close();
  },
  environment: async ({ vendor }, use) => use(vendor.environment),
});
test.use({ permissions: ['microphone'] });

const SENTENCE = 'Good morning. Two deliveries arrived overnight, and both were answered.';

async function downloaded(page: Page, button: Locator): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return readFileSync(await download.path());
}

const playing = (page: Page) =>
  page.evaluate(() => [...document.querySelectorAll('audio')].filter((one) => !one.paused && one.currentTime > 0).length);

async function clean(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await violations(page), colorScheme).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: null });
}

async function unlock(page: Page, button: Locator): Promise<void> {
  await button.click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock', exact: true }).click();
}

test('a sentence is spoken: the provider’s bytes play and download; a provider error is reported and retried', async ({
  home,
  page,
  vendor,
}) => {
  await page.goto(`${home.origin}/settings/voice`);
  const speech = page.getByRole('group', { name: 'Speech' }).first();
  vendor.fail(500, ATTEMPTS);
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  const note = page.getByRole('alert').filter({ has: page.getByRole('button', { name: 'Try again' }) });
  await expect(note).toBeVisible();
  expect(vendor.sent).toHaveLength(0);
  await clean(page);
  await note.getByRole('button', { name: 'Try again' }).click();
  await expect(speech.getByText('Spoken by OpenAI')).toBeVisible();
  await expect(note).toHaveCount(0);
  await expect.poll(() => playing(page)).toBe(1);
  expect(vendor.spoken).toEqual([{ model: 'gpt-4o-mini-tts', input: SENTENCE, voice: 'alloy', response_format: 'mp3' }]);
  const bytes = await downloaded(page, speech.getByRole('button', { name: 'Download the audio' }));
  expect(bytes.equals(vendor.sent[0]!)).toBe(true);

  // The same request comes from the cache; another format is requested and has other bytes.
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  await expect(speech.getByText('From cache')).toBeVisible();
  expect(vendor.spoken).toHaveLength(1);
  await page.getByLabel('Format').selectOption('wav');
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  await expect(speech.getByText(/, wav$/)).toBeVisible();
  const wav = await downloaded(page, speech.getByRole('button', { name: 'Download the audio' }));
  expect(wav.equals(vendor.sent[1]!)).toBe(true);
  expect(wav.subarray(0, 4).toString()).toBe('RIFF');

  // A text over the limit is refused before any request.
  await page.getByLabel('Sentence').fill('a'.repeat(4097));
  await expect(page.getByText('Up to 4096 characters.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Speak', exact: true })).toBeDisabled();
});

test('providers: setup, saving and removing a key, selection, fallback, turning off; another window follows', async ({
  home,
  page,
  vendor,
}) => {
  await page.goto(`${home.origin}/settings/voice`);
  const other = await secondWindow(page);
  await other.goto(`${home.origin}/settings/voice`);
  const row = (of: Page, name: string) => of.getByRole('listitem').filter({ has: of.getByRole('heading', { name }) });
  await expect(row(page, 'OpenAI').getByText('In use (first available)')).toBeVisible();
  await expect(row(page, 'ElevenLabs').getByText('API key missing', { exact: true })).toBeVisible();
  await expect(row(other, 'ElevenLabs').getByText('API key missing', { exact: true })).toBeVisible();

  await page.getByRole('button', { name: 'Set up ElevenLabs' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set up ElevenLabs' });
  await clean(page);
  await dialog.getByLabel('API key', { exact: true }).fill('xi-0815-key-1234');
  await dialog.getByLabel('Stability').fill('7');
  await dialog.getByRole('button', { name: 'Save and test' }).click();
  await expect(dialog.getByLabel('Stability')).toBeFocused();
  await dialog.getByLabel('Stability').fill('0.4');
  // Nothing listens at this address, so requests fail and OpenAI is used instead.
  await dialog.getByLabel('Address').fill('http://127.0.0.1:9/v1');
  await dialog.getByRole('button', { name: 'Save and test' }).click();
  await expect(dialog.getByText('This key was not saved.')).toBeVisible();
  await expect(dialog.getByRole('alert')).toContainText('ElevenLabs');
  await expect(row(page, 'ElevenLabs').getByText('API key missing', { exact: true })).toBeVisible();
  await dialog.getByRole('button', { name: 'Save anyway' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(row(page, 'ElevenLabs').getByText('Set up, not tested', { exact: true })).toBeVisible();
  await expect(row(page, 'ElevenLabs').getByText('In use (first available)')).toBeVisible();
  await expect(row(other, 'ElevenLabs').getByText('API key missing', { exact: true })).toHaveCount(0);
  await expect(row(page, 'OpenAI').getByText('Set up, not tested', { exact: true })).toBeVisible();

  await page.getByLabel('Choose a provider').selectOption('OpenAI');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Remove OpenAI' })).toBeVisible();
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  const speech = page.getByRole('group', { name: 'Speech' }).first();
  await expect(speech.getByText('Tried first, without success:')).toBeVisible();
  await expect(speech.getByText('ElevenLabs:')).toBeVisible();
  await expect(speech.getByText('Spoken by OpenAI')).toBeVisible();
  expect(vendor.sent).toHaveLength(1);

  await page.getByRole('button', { name: 'Use OpenAI' }).click();
  await expect(row(page, 'OpenAI').getByText('In use', { exact: true })).toBeVisible();
  await expect(row(other, 'OpenAI').getByText('In use', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Change OpenAI' }).click();
  const openai = page.getByRole('dialog', { name: 'Set up OpenAI' });
  await expect(openai.getByLabel('Address')).toBeDisabled();
  await openai.getByLabel('Voice').fill('nova');
  await openai.getByRole('button', { name: 'Save and test' }).click();
  await expect(openai).toHaveCount(0);
  await expect(row(page, 'OpenAI').getByText('Works', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  await expect.poll(() => vendor.spoken.at(-1)?.voice).toBe('nova');

  await page.getByRole('button', { name: 'Change ElevenLabs' }).click();
  await expect(dialog.getByText(/A key ending in \S*1234 is stored for/)).toBeVisible();
  await dialog.getByRole('button', { name: 'Remove the stored key' }).click();
  await expect(dialog.getByText('Stored by the gateway')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(row(page, 'ElevenLabs').getByText('API key missing', { exact: true })).toBeVisible();

  await page.getByRole('switch', { name: 'Enable text to speech' }).click();
  await expect(other.getByRole('switch', { name: 'Enable text to speech' })).not.toBeChecked();
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'switched off' })).toBeVisible();
  await page.getByRole('switch', { name: 'Enable text to speech' }).click();
  await expect(other.getByRole('switch', { name: 'Enable text to speech' })).toBeChecked();

  // Which answers are spoken, and their maximum length.
  await page.getByRole('radio', { name: 'When I speak' }).check();
  await page.getByLabel('Maximum length').fill('200');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Maximum length saved').first()).toBeVisible();
  await expect.poll(() => home.rpc('tts.status')).toMatchObject({ auto: 'inbound', maxTextLength: 200 });
  await expect(other.getByRole('radio', { name: 'When I speak' })).toBeChecked();
});

test('a persona is created, previewed, activated, used, deleted and restored', async ({
  home,
  page,
  vendor,
  complaints,
}) => {
  complaints.allowDowntime();
  await page.goto(`${home.origin}/settings/voice/personas`);
  await expect(page.getByText('No personas yet')).toBeVisible();
  await page.getByRole('button', { name: 'New persona' }).click();
  const dialog = page.getByRole('dialog', { name: 'New persona' });
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(dialog.getByText('Enter a name.')).toBeVisible();
  await expect(dialog.getByLabel('Name')).toBeFocused();
  await dialog.getByLabel('Name').fill('Narrator');
  await dialog.getByLabel('Who is speaking').fill('An old sailor');
  await dialog.getByLabel('Pace').fill('Slow, with pauses');
  await dialog.getByLabel('Choose a provider').selectOption('OpenAI');
  await dialog.getByRole('button', { name: 'Add' }).click();
  const binding = dialog.getByRole('group', { name: 'OpenAI' });
  await binding.getByLabel('Voice').fill('onyx');
  await binding.getByLabel('Speed').fill('0.9');
  await dialog.getByLabel('Sentence').fill('The gate is open.');
  await clean(page);
  await dialog.getByRole('button', { name: 'Save and preview' }).click();
  await expect(dialog.getByText('Spoken by OpenAI')).toBeVisible();
  await expect.poll(() => playing(page)).toBe(1);
  expect(vendor.spoken).toEqual([
    {
      model: 'gpt-4o-mini-tts',
      input: 'The gate is open.',
      voice: 'onyx',
      speed: 0.9,
      response_format: 'mp3',
      instructions: 'Voice profile: An old sailor\nPacing: Slow, with pauses',
    },
  ]);
  const bytes = await downloaded(page, dialog.getByRole('button', { name: 'Download the audio' }));
  expect(bytes.equals(vendor.sent[0]!)).toBe(true);

  // An edit changes the preview.
  await dialog.getByLabel('Pace').fill('');
  await dialog.getByRole('button', { name: 'Save and preview' }).click();
  await expect.poll(() => vendor.spoken.at(-1)?.instructions).toBe('Voice profile: An old sailor');
  await expect(dialog.getByRole('button', { name: 'Preview', exact: true })).toBeVisible();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await expect(dialog).toHaveCount(0);

  const other = await secondWindow(page);
  await other.goto(`${home.origin}/settings/voice/personas`);
  await expect(other.getByRole('heading', { name: 'Narrator' })).toBeVisible();
  await page.getByRole('button', { name: 'Activate Narrator', exact: true }).click();
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
  await expect(other.getByText('Active', { exact: true })).toBeVisible();
  await other.goto(`${home.origin}/settings/security/audit-log`);
  await expect(other.getByText('Persona created: Narrator')).toBeVisible();
  await other.goto(`${home.origin}/settings/voice/personas`);
  await home.restart('SIGKILL');
  await home.call('POST', '/api/auth/vault/unlock', { password: PASSWORD });
  await page.goto(`${home.origin}/settings/voice`);
  await expect(page.getByLabel('Persona')).toContainText('Active persona (Narrator)');
  await page.getByRole('button', { name: 'Speak', exact: true }).click();
  await expect.poll(() => vendor.spoken.at(-1)).toMatchObject({ input: SENTENCE, voice: 'onyx' });

  await page.goto(`${home.origin}/settings/voice/personas`);
  await page.getByRole('button', { name: 'Actions for Narrator' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(page.getByText('Persona Narrator deleted').first()).toBeVisible();
  await expect(page.getByText('No personas yet')).toBeVisible();
  await expect(other.getByText('No personas yet')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('heading', { name: 'Narrator' })).toBeVisible();
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
  const { personas } = await home.rpc<{ personas: Record<string, unknown>[] }>('voice.personas.list');
  expect(personas).toMatchObject([
    { id: 'narrator', prompt: { profile: 'An old sailor', pacing: '' }, providerBindings: [{ voice_id: 'onyx', speed: 0.9 }] },
  ]);
  await page.getByRole('button', { name: 'Deactivate Narrator' }).click();
  await expect(page.getByText('Active', { exact: true })).toHaveCount(0);
});

test('the microphone test shows the transcript with timestamps; a provider error keeps the recording', async ({
  home,
  page,
  vendor,
}) => {
  await page.goto(`${home.origin}/settings/voice/listening`);
  vendor.fail(503, ATTEMPTS);
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await expect(page.getByRole('timer')).toHaveText(/^0:0[1-9]$/);
  await expect(page.getByRole('meter', { name: 'Input level' })).toBeVisible();
  await clean(page);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
  const understood = page.getByRole('group', { name: 'Transcript' });
  await expect(understood.getByText('turn the lights on')).toBeVisible();
  await expect(understood.getByText('Transcribed by OpenAI')).toBeVisible();
  await expect(understood.getByText('English')).toBeVisible();
  await understood.getByText('Words with timestamps').click();
  await expect(understood.getByRole('listitem').filter({ hasText: 'lights' })).toContainText('1.0–1.4 s');
  expect(vendor.listened).toHaveLength(1);
  expect(vendor.listened[0]!.fileName).toMatch(/\.webm$/);
  const bytes = await downloaded(page, page.getByRole('button', { name: 'Download the audio' }));
  expect(bytes.equals(vendor.listened[0]!.audio)).toBe(true);
  // The recording can be played back.
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => playing(page)).toBe(1);
  await clean(page);
});

test('a transcription provider is tested with a second of silence; a refusal shows the provider’s sentence', async ({
  home,
  page,
  vendor,
}) => {
  await page.goto(`${home.origin}/settings/voice/listening`);
  const row = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'OpenAI' }) }).first();
  await expect(row.getByText('Set up, not tested', { exact: true })).toBeVisible();
  await expect(page.getByText('A test sends one second of silence to the provider')).toBeVisible();
  await page.getByRole('button', { name: 'Test OpenAI' }).click();
  await expect(row.getByText('Works', { exact: true })).toBeVisible();
  await expect(row.getByText(/^Tested .*: transcribed a second of silence$/)).toBeVisible();
  expect(vendor.listened.map(({ audio }) => audio.length)).toEqual([44 + 32_000]);
  vendor.fail(400);
  await page.getByRole('button', { name: 'Test OpenAI' }).click();
  await expect(row.getByText('Failed', { exact: true })).toBeVisible();
  await expect(row.getByText(/The provider says: “The server had an error while processing your request\.”/)).toBeVisible();
  await clean(page);
});

test('whisper.cpp: the context fits the recording unless the form turns that off', async ({ home, page }) => {
  const key = 'voice.stt.stt_local_2.fit_audio_context';
  await page.goto(`${home.origin}/settings/voice/listening`);
  await page.getByRole('button', { name: 'Set up whisper.cpp' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set up whisper.cpp' });
  await expect(dialog.getByText('Transcribes short recordings faster.')).toBeVisible();
  const fits = dialog.getByLabel('Fit context to recording');
  await expect(fits).toHaveValue('');
  await fits.selectOption('No');
  await dialog.getByRole('button', { name: 'Save and test' }).click();
  // There is no model file.
  await expect(dialog.getByText('Saved, but the test failed:')).toBeVisible();
  expect(await home.rpc('config.get', { keys: [key] })).toMatchObject({ values: [{ key, value: false }] });
});

test('a recording survives a gateway that is killed during transcription', async ({ home, page, vendor, complaints }) => {
  complaints.allowDowntime();
  await page.goto(`${home.origin}/settings/voice/listening`);
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  vendor.hold();
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await expect(page.getByRole('timer')).toHaveText(/^0:0[1-9]$/);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(() => vendor.waiting).toBe(1);
  await home.restart('SIGKILL');
  vendor.go();
  const again = page.getByRole('alert').getByRole('button', { name: 'Try again' });
  await expect(again).toBeVisible();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await again.click();
  await expect(page.getByText('turn the lights on')).toBeVisible();
  expect(vendor.listened).toHaveLength(2);
  expect(vendor.listened[1]!.audio.equals(vendor.listened[0]!.audio)).toBe(true);
});

for (const [name, why, text] of [
  ['refused', 'NotAllowedError', 'Microphone access was denied.'],
  ['missing', 'NotFoundError', 'No microphone was found.'],
  ['in use elsewhere', 'NotReadableError', 'The microphone is unavailable'],
] as const) {
  test(`a microphone that is ${name} gets an explanation`, async ({ home, page }) => {
    // Chromium's fake device is always present and allowed, so the test replaces the browser's response.
    await page.addInitScript((error) => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', error));
    }, why);
    await page.goto(`${home.origin}/settings/voice/listening`);
    await page.getByRole('button', { name: 'Record', exact: true }).click();
    await expect(page.locator('main').getByRole('alert')).toContainText(text);
    await expect(page.getByRole('button', { name: 'Record', exact: true })).toBeEnabled();
  });
}

test.describe('a key in the vault', () => {
  // Only the address comes from the environment; the page stores the key.
  test.use({
    environment: async ({ vendor }, use) => 
      use({
        SERVICE_VOICE__TTS__OPENAI__BASE_URL: vendor.url,
        // By default the specification keeps the plaintext file next to the encrypted copy, so nothing would be missing
        // while sealed.
        SERVICE_VAULT__KEEP_PLAINTEXT_PROVIDER_KEYS: 'false',
      }),
  });

  test('is stored by the page, and the sealed vault can be unlocked from the current page', async ({
    home,
    page,
    vendor,
    complaints,
  }) => {
    complaints.allowDowntime();
    await page.goto(`${home.origin}/settings/voice`);
    await page.getByRole('button', { name: 'Set up OpenAI' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('API key', { exact: true }).fill('sk-wrong-0123456789-abcdef');
    await dialog.getByRole('button', { name: 'Save and test' }).click();
    await expect(dialog.getByText('This key was not saved.')).toBeVisible();
    await expect(dialog.getByRole('alert')).toContainText('OpenAI rejected the key (status 401).');
    await expect(dialog.getByRole('alert')).toContainText('Check that the key is complete');
    await clean(page);
    const row = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'OpenAI' }) }).first();
    await expect(row.getByText('API key missing', { exact: true })).toBeVisible();
    await dialog.getByRole('textbox', { name: 'API key', exact: true }).fill(vendor.key);
    await dialog.getByRole('button', { name: 'Save and test' }).click();
    await expect(dialog).toHaveCount(0);
    await expect(row.getByText('Works', { exact: true })).toBeVisible();
    await expect(row.getByText(/^Tested .*: spoke one short word$/)).toBeVisible();
    expect(vendor.spoken.map(({ input }) => input)).toEqual(['Test']);
    // The test result of one key does not apply to the next key.
    await home.rpc('providers.set_key', { id: 'tts_cloud_2', key: 'sk-wrong-0123456789-abcdef' });
    await expect(row.getByText('Set up, not tested', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Test OpenAI' }).click();
    await expect(row.getByText('Key rejected', { exact: true })).toBeVisible();
    await expect(row).toContainText('OpenAI rejected the key (status 401). Check that the key');
    await clean(page);
    await home.rpc('providers.set_key', { id: 'tts_cloud_2', key: vendor.key });
    await page.getByRole('button', { name: 'Test OpenAI' }).click();
    await expect(row.getByText('Works', { exact: true })).toBeVisible();
    expect(vendor.sent).toHaveLength(2);
    await home.restart();
    await expect(row.getByText('Works', { exact: true })).toHaveCount(0);
    const alert = page.locator('main').getByRole('alert').filter({ hasText: 'The vault is sealed' });
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    await expect(alert).toBeVisible();
    await clean(page);
    await unlock(page, alert.getByRole('button', { name: 'Unlock' }));
    await expect(page.getByText('Spoken by OpenAI')).toBeVisible();
    expect(vendor.sent).toHaveLength(3);
    // The key is neither in the page nor in its storage.
    const kept = await page.evaluate(() => document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage }));
    expect(kept).not.toContain(vendor.key);
  });
});

test('keyboard-only use: a persona is created, previewed and activated', async ({ home, page, vendor }) => {
  await page.goto(`${home.origin}/settings/voice/personas`);
  const press = async (name: RegExp | string, role: 'button' | 'menuitem' = 'button') => {
    const wanted = page.getByRole(role, { name }).first();
    await expect(wanted).toBeVisible();
    for (let step = 0; step < 80; step++) {
      if (await wanted.evaluate((one) => one === document.activeElement)) return page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
    }
    throw new Error(`${name} is not reached by Tab`);
  };
  await press('New persona');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  for (let step = 0; step < 5; step++) {
    if (await dialog.getByLabel('Name').evaluate((one) => one === document.activeElement)) break;
    await page.keyboard.press('Tab');
  }
  await page.keyboard.type('Herald');
  await press('Save and preview');
  await expect(dialog.getByText('Spoken by OpenAI')).toBeVisible();
  expect(vendor.sent).toHaveLength(1);
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Herald' })).toBeVisible();
  await press('Activate Herald');
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
});

test.describe('with the address of OpenAI only', () => {
  test.use({
    environment: async ({ vendor }, use) => use({ SERVICE_MODELS__PROVIDERS__OPENAI__BASE_URL: vendor.url }),
  });

  test('the key of OpenAI is stored once in Providers, and speech and transcription are set up with it', async ({
    home,
    page,
    vendor,
  }) => {
    const heading = page.getByRole('heading', { name: 'OpenAI', exact: true });
    const row = page.getByRole('listitem').filter({ has: heading });
    await page.goto(`${home.origin}/settings/voice`);
    await expect(row.getByText('API key missing', { exact: true })).toBeVisible();
    await page.goto(`${home.origin}/settings/providers`);
    await page.getByRole('button', { name: 'Add key for OpenAI' }).click();
    const dialog = page.getByRole('dialog', { name: 'API key for OpenAI' });
    await dialog.getByRole('textbox', { name: 'API key' }).fill(vendor.key);
    await dialog.getByRole('button', { name: 'Save and test' }).click();
    await expect(dialog).toHaveCount(0);
    for (const path of ['/settings/voice', '/settings/voice/listening']) {
      await page.goto(home.origin + path);
      await expect(row.getByText('Set up, not tested')).toBeVisible();
      await row.getByRole('button', { name: 'Test OpenAI' }).click();
      await expect(row.getByText('Works', { exact: true })).toBeVisible();
    }
    expect([vendor.spoken.length, vendor.listened.length]).toEqual([1, 1]);
    expect(await page.content()).not.toContain(vendor.key);
  });
});

test('a build without voice shows no voice features', async ({ home, page }) => {
  // Such a build marks the page that it serves, before its script runs.
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      const meta = document.querySelector<HTMLMetaElement>('meta[name=gatehouse]');
      if (!meta) return;
      observer.disconnect();
      meta.content = JSON.stringify({ ...(JSON.parse(meta.content) as object), voice_enabled: false });
    }).observe(document, { childList: true, subtree: true });
  });
  const asked: string[] = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => asked.push(String(payload))));
  page.on('request', (request) => asked.push(request.postData() ?? ''));
  for (const path of ['/chat', '/settings', '/settings/security', '/agents', '/settings/providers']) {
    await page.goto(home.origin + path);
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeAttached();
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await page.waitForLoadState('networkidle');
    await expect(page.getByRole('link', { name: /voice/i })).toHaveCount(0);
    await expect(page.getByRole('button', { name: /voice|record a message|spoken|speak/i })).toHaveCount(0);
    await expect(page.getByText(/\b(voice|persona|microphone|spoken)\b/i)).toHaveCount(0);
    expect(await page.locator('a[href*="voice"]').count()).toBe(0);
  }
  for (const path of ['/settings/voice', '/settings/voice/personas']) {
    await page.goto(home.origin + path);
    await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible();
  }
  expect(asked.filter((one) => /"(tts|stt|voice)\./.test(one))).toEqual([]);
  expect(asked.some((one) => one.includes('"connect"'))).toBe(true);
});

test('an unknown URL under voice shows the not-found page', async ({ home, page }) => {
  await page.goto(`${home.origin}/settings/voice/nothing`);
  await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible();
});
