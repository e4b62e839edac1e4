// Takes the pictures. Environment: PICTURES is the output folder (default docs/images/pages), PICTURES_ONLY a pattern of names,
// PICTURES_PNG=1 writes PNG, PICTURES_FULL=1 captures full pages, PICTURES_SIZES sets sizes (`narrow=320x700,wide=2560x1440`).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect } from '../fixtures/test';

const FOLDER = process.env.PICTURES ?? new URL('../../../docs/images/pages', import.meta.url).pathname;
const ONLY = new RegExp(process.env.PICTURES_ONLY ?? '.');
const PNG = process.env.PICTURES_PNG === '1';
const FULL = process.env.PICTURES_FULL === '1';
const SIZES = (process.env.PICTURES_SIZES ?? 'desk=1280x800,phone=390x844').split(',').map((one) => {
  const [name = '', width = 0, height = 0] = one.split(/[=x]/);
  return { name, viewport: { width: Number(width), height: Number(height) } };
});
const USUAL = { width: 1280, height: 800 };

export const isWanted = (name: string): boolean => ONLY.test(name);

/** Takes the current page in both themes and all sizes; with `path`, it is loaded again for each size. */
export async function take(page: Page, name: string, path?: string): Promise<void> {
  if (!isWanted(name)) return;
  mkdirSync(FOLDER, { recursive: true });
  const session = await page.context().newCDPSession(page);
  for (const { name: size, viewport } of SIZES) {
    await page.setViewportSize(viewport);
    if (path) {
      await page.goto(path);
      await settled(page);
    }
    if (FULL) {
      await painted(page);
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewportSize({ ...viewport, height: Math.min(height, 6000) });
    }
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await painted(page);
      const format = PNG ? ({ format: 'png' } as const) : ({ format: 'webp', quality: 42 } as const);
      const { data } = await session.send('Page.captureScreenshot', format);
      writeFileSync(join(FOLDER, `${name}-${size}-${colorScheme}.${PNG ? 'png' : 'webp'}`), Buffer.from(data, 'base64'));
    }
  }
  await session.detach();
  await page.setViewportSize(USUAL);
}

/** Waits until the page is drawn and all transitions have ended. */
const painted = (page: Page) =>
  page.evaluate(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    for (let frames = 0; frames < 4; frames++) await frame();
    // Infinite animations never end.
    const ends = document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ends.map((animation) => animation.finished));
    await frame();
  });

/** Opens the page and takes it when everything has loaded. */
export async function visit(page: Page, name: string, path: string): Promise<void> {
  if (!isWanted(name)) return;
  await page.goto(path);
  await settled(page);
  await take(page, name);
}

export async function settled(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
  await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => undefined);
  await expect(page.getByText('Loading…')).toHaveCount(0);
}
