// The pictures of the README: three pages, and a recording of the first five minutes. They are written to README_PICTURES, or to
// docs/images.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { heading, isLive, press } from '../fixtures/entering';
import { ModelServer } from '../fixtures/model';
import { expect, PASSWORD, test, type Gateway } from '../fixtures/test';
import { apngOf, type Shot } from './apng';
import { seed } from './seed';
import { isWanted, settled } from './take';

const FOLDER = process.env.README_PICTURES ?? new URL('../../../docs/images', import.meta.url).pathname;
const SIZE = { width: 1280, height: 800 };
const FILM_SIZE = { width: 960, height: 640 };
const MOST_BYTES = 1_500_000;

const write = (name: string, data: Buffer) => {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, name), data);
};

test.describe('pages', () => {
  let model: ModelServer;

  test.use({
    environment: async ({}, use) => {
      model = await ModelServer.start();
      await use(model.environment);
      await model.close();
    },
  });

  test('three pages', async ({ home, page }) => {
    test.skip(!isWanted('readme'));
    const { session, delivery } = await seed(home, model);
    await page.setViewportSize(SIZE);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    const browser = await page.context().newCDPSession(page);
    for (const [name, path] of Object.entries({ overview: '/overview', delivery: `/deliveries/${delivery}`, chat: `/chat/${session}` })) {
      await page.goto(path);
      await settled(page);
      await isLive(page);
      const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: 60 });
      write(`${name}.webp`, Buffer.from(data, 'base64'));
    }
  });
});

/** Takes shots of a page, each with the time for which it is shown. */
class Film {
  readonly shots: Shot[] = [];

  constructor(readonly page: Page) {}

  async shot(ms: number): Promise<void> {
    this.shots.push({ png: await this.page.screenshot({ animations: 'disabled', caret: 'hide' }), ms });
  }

  async type(field: Locator, text: string): Promise<void> {
    const steps = 4;
    for (let step = 1; step <= steps; step++) {
      await field.fill(text.slice(0, Math.ceil((text.length * step) / steps)));
      await this.shot(150);
    }
  }
}

async function enter(page: Page, film: Film): Promise<void> {
  await page.goto('/onboarding');
  await heading(page, 'Welcome to Gatehouse').waitFor();
  await film.shot(1_500);
  await film.type(page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
  await page.getByLabel('Confirm password', { exact: true }).fill(PASSWORD);
  await film.shot(700);
  await press(page, 'Set password');
  await heading(page, 'Save your recovery key').waitFor();
  await film.shot(1_500);
  await page.getByLabel('I’ve saved it').check();
  await film.shot(400);
  await press(page, 'Continue');
  await heading(page, 'Add a passkey').waitFor();
  await film.shot(1_000);
  await press(page, 'Skip for now');
}

async function connect(page: Page, film: Film, model: ModelServer): Promise<void> {
  await heading(page, 'Choose a model provider').waitFor();
  await film.shot(1_200);
  await page.getByRole('radio', { name: 'Your own or another server' }).check();
  await page.getByLabel('Address').fill(model.url);
  await film.type(page.getByLabel(/^API key/), 'sk-test');
  await film.shot(600);
  await press(page, 'Check and continue');
  await heading(page, 'Choose the default model').waitFor();
  await page.getByLabel('Default model').selectOption('test-model');
  await film.shot(1_000);
  await press(page, 'Continue');
  await heading(page, 'Where should messages go?').waitFor();
  await film.shot(1_000);
  await press(page, 'Continue');
}

async function receive(page: Page, film: Film, model: ModelServer, gateway: Gateway): Promise<void> {
  await heading(page, 'Create your first webhook').waitFor();
  await page.getByLabel('Which service will send?').selectOption('GitHub');
  await film.shot(1_200);
  model.next({ text: ['Retry on a broken pipe: three files, the tests pass. ', 'Ready to be reviewed.'] });
  await press(page, 'Create webhook');
  await heading(page, 'The webhook “GitHub” is ready').waitFor();
  await film.shot(1_800);
  await press(page, 'Send a test');
  await expect(page.getByText('Ready to be reviewed.')).toBeVisible();
  await page.getByText('Ready to be reviewed.').scrollIntoViewIfNeeded();
  await film.shot(2_000);
  await page.getByLabel('I’ve saved it').check();
  await press(page, 'Continue');
  await heading(page, 'You’re all set').waitFor();
  await film.shot(1_200);
  await page.goto(`${gateway.origin}/overview`);
  await isLive(page);
  await settled(page);
  await film.shot(1_800);
  await page.goto('/deliveries');
  await settled(page);
  await film.shot(1_000);
  await page.locator('[data-id]').first().click();
  await expect(page.getByText(/^Answered by an agent/)).toBeVisible();
  await settled(page);
  await film.shot(2_000);
  await page.getByRole('link', { name: 'Open conversation' }).click();
  await expect(page.getByText('Ready to be reviewed.').first()).toBeVisible();
  await settled(page);
  await film.shot(3_000);
}

test('the first five minutes', async ({ gateway, page }) => {
  test.skip(!isWanted('readme'));
  const model = await ModelServer.start();
  await page.setViewportSize(FILM_SIZE);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const film = new Film(page);
  await enter(page, film);
  await connect(page, film, model);
  await receive(page, film, model, gateway);
  const recording = apngOf(film.shots);
  expect(recording.length).toBeLessThan(MOST_BYTES);
  write('first-five-minutes.png', recording);
  await model.close();
});
