// Checks for every page: no axe violation in either theme, no horizontal scroll from 320 to 2560 px, everything reachable by
// Tab with a visible focus, no motion with `prefers-reduced-motion`, and no internals in the texts.
import type { Page } from '@playwright/test';
import { arrive } from './fixtures/arrive';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { moving } from './fixtures/motion';
import { details, places } from './fixtures/places';
import { expect, test } from './fixtures/test';
import { internals } from './fixtures/wording';
import { seed, type Seeded } from './pictures/seed';

const WIDTHS = [320, 390, 600, 768, 1024, 1440, 2560];
const all = (seeded: Seeded) => ({ ...places(seeded), ...details(seeded) }) as Record<string, string>;
const NAMES = Object.keys(all({ session: '', webhook: '', delivery: '', conversation: '', agent: '', channel: '' }));
const PARTS = 3;

/** Names of the elements that Tab must reach on the current page; marks each so the test can recognize it. */
const tabbable = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = [];
    const all = document.querySelectorAll<HTMLElement>(
      'a[href], button, input, select, textarea, summary, audio[controls], [tabindex]:not([tabindex="-1"])',
    );
    const radios = new Set<string>();
    for (const one of all) {
      if (one.tabIndex < 0 || one.matches(':disabled') || one.closest('[inert]')) continue;
      if (!one.checkVisibility({ visibilityProperty: true }) || one.getClientRects().length === 0) continue;
      if (one instanceof HTMLInputElement && one.type === 'radio') {
        // Tab reaches one element of a group; arrow keys reach the others.
        if (radios.has(one.name)) continue;
        radios.add(one.name);
        one.dataset.tab = `radio ${one.name}`;
      } else {
        one.dataset.tab = `${found.length} ${one.tagName} ${(one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 40)}`;
      }
      found.push(one.dataset.tab);
    }
    return found;
  });

async function walk(page: Page, most: number): Promise<{ reached: Set<string>; unseen: string[] }> {
  const reached = new Set<string>();
  const unseen: string[] = [];
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  for (let step = 0; step < most; step++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const one = document.activeElement as HTMLElement | null;
      if (!one || one === document.body) return null;
      const style = getComputedStyle(one);
      const seen = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
      const name = one instanceof HTMLInputElement && one.type === 'radio' ? `radio ${one.name}` : one.dataset.tab;
      return { name: name ?? one.outerHTML.slice(0, 80), seen };
    });
    if (!at) continue;
    reached.add(at.name);
    if (!at.seen) unseen.push(at.name);
  }
  return { reached, unseen };
}

test.describe('every page', () => {
  let model: ModelServer;
  let seeded: Seeded;

  test.use({ environment: async ({}, use) => {
    model = await ModelServer.start();
    await use(model.environment);
    await model.close();
  } });

  for (let part = 0; part < PARTS; part++) {
    test(`axe, widths, keyboard, motion (${part + 1} of ${PARTS})`, async ({ home, page }) => {
      test.setTimeout(400_000);
      seeded = await seed(home, model);
      await page.emulateMedia({ reducedMotion: 'reduce' });
      for (const name of NAMES.filter((_, at) => at % PARTS === part)) {
        await test.step(name, async () => {
          await page.setViewportSize({ width: 1280, height: 900 });
          await arrive(page, all(seeded)[name] ?? '/', 'Loading…');
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
            expect.soft(await violations(page), `${name}, ${colorScheme}`).toEqual([]);
          }
          expect.soft(await internals(page), `${name}: internals`).toEqual([]);
          expect.soft(await moving(page), `${name}: motion for somebody who wants none`).toEqual([]);
          for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: 900 });
            const over = () =>
              page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
            // Polls until the new width is laid out.
            await expect
              .configure({ soft: true })
              .poll(over, { message: `${name} at ${width} px scrolls sideways`, timeout: 3_000 })
              .toBeLessThanOrEqual(0);
          }
          await page.setViewportSize({ width: 390, height: 844 });
          expect.soft(await violations(page), `${name}, on a phone`).toEqual([]);
          await page.setViewportSize({ width: 1280, height: 900 });
          await arrive(page, all(seeded)[name] ?? '/', 'Loading…');
          const wanted = await tabbable(page);
          const { reached, unseen } = await walk(page, wanted.length + 6);
          expect.soft(wanted.filter((one) => !reached.has(one)), `${name}: not reached by Tab`).toEqual([]);
          expect.soft(unseen, `${name}: focus that is not seen`).toEqual([]);
        });
      }
    });
  }
});
