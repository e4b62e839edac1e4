// Takes the pictures. PICTURES names another folder than docs/images/pages, PICTURES_ONLY a pattern of names, PICTURES_PNG=1 writes PNG.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { ModelServer } from '../fixtures/model';
import { places } from '../fixtures/places';
import { expect, Gateway, test } from '../fixtures/test';
import { seed } from './seed';

const FOLDER = process.env.PICTURES ?? new URL('../../../docs/images/pages', import.meta.url).pathname;
const ONLY = new RegExp(process.env.PICTURES_ONLY ?? '.');
const PNG = process.env.PICTURES_PNG === '1';
const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** Takes what is shown now in both themes and sizes. */
async function take(page: Page, name: string): Promise<void> {
  if (!ONLY.test(name)) return;
  mkdirSync(FOLDER, { recursive: true });
  const session = await page.context().newCDPSession(page);
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await painted(page);
      const file = join(FOLDER, `${name}-${size}-${colorScheme}.${PNG ? 'png' : 'webp'}`);
      const format = PNG ? ({ format: 'png' } as const) : ({ format: 'webp', quality: 82 } as const);
      const { data } = await session.send('Page.captureScreenshot', format);
      writeFileSync(file, Buffer.from(data, 'base64'));
    }
  }
  await session.detach();
  await page.setViewportSize(SIZES.desk);
}

/** Until what was changed is drawn, with all transitions at their end. */
const painted = (page: Page) =>
  page.evaluate(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    for (let frames = 0; frames < 4; frames++) await frame();
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
    await frame();
  });

const settled = async (page: Page) => {
  await page.waitForLoadState('networkidle').catch(() => undefined);
  await expect(page.getByText('Loading…')).toHaveCount(0);
};

test('pages', async ({ gateway, page, context }) => {
  await page.goto('/');
  await settled(page);
  await take(page, 'onboarding');
  const model = await ModelServer.start();
  await gateway.stop();
  const home = Object.assign(gateway, { environment: model.environment }) as Gateway;
  await home.run();
  await home.setUp();
  const seeded = await seed(home, model);
  await page.goto('/deliveries');
  await settled(page);
  await take(page, 'login');
  const [name = '', value = ''] = home.cookie.split('=');
  await context.addCookies([{ name, value, url: home.origin, httpOnly: true, sameSite: 'Strict' }]);
  for (const [picture, path] of Object.entries(places(seeded))) {
    if (!ONLY.test(picture)) continue;
    await page.goto(path);
    await settled(page);
    await take(page, picture);
  }
  await home.call('POST', '/api/auth/vault/seal');
  await page.goto('/settings/environment');
  await settled(page);
  await take(page, 'sealed');
  await model.close();
});
