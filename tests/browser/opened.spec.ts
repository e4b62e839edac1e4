// Drawers, menus and dialogs on a phone: no axe violation in either theme, nothing wider than the screen, closed by Escape,
// and the focus returns to where it was.
import type { Locator, Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { expect, type Gateway } from './fixtures/test';
import { test } from './fixtures/with-model';
import { seed, type Seeded } from './pictures/seed';

interface Opened {
  name: string;
  path: (seeded: Seeded) => string;
  /** Pressed in this order. */
  press: ((page: Page) => Locator)[];
  /** Visible afterwards. */
  shown: (page: Page) => Locator;
  before?: (home: Gateway) => Promise<unknown>;
}

const button = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name, exact: true }).first();
const item = (name: string) => (page: Page) => page.getByRole('menuitem', { name });
const dialog = (name?: string) => (page: Page) => page.getByRole('dialog', name ? { name } : {});
const menu = (page: Page) => page.getByRole('menu').filter({ visible: true });

const OPENED: Opened[] = [
  { name: 'drawer', path: ({ session }) => `/chat/${session}`, press: [button('Conversations')], shown: dialog('Conversations') },
  { name: 'person', path: () => '/deliveries', press: [button('Account and theme')], shown: menu },
  {
    name: 'conversation',
    path: ({ session }) => `/chat/${session}`,
    press: [button('Rename, share or delete')],
    shown: menu,
  },
  {
    name: 'share',
    path: ({ session }) => `/chat/${session}`,
    press: [button('Rename, share or delete'), item('Share…')],
    shown: dialog(),
  },
  { name: 'webhook', path: () => '/webhooks', press: [button('Actions for Bills')], shown: menu },
  {
    name: 'delete',
    path: () => '/webhooks',
    press: [button('Actions for Bills'), item('Delete')],
    shown: dialog(),
  },
  { name: 'api-key', path: () => '/settings/security/access', press: [button('Create an API key')], shown: dialog() },
  { name: 'device', path: () => '/settings/security/access', press: [button('Pair a device')], shown: dialog() },
  { name: 'password', path: () => '/settings/security', press: [button('Change password')], shown: dialog() },
  { name: 'persona', path: () => '/settings/voice/personas', press: [button('New persona')], shown: dialog() },
  {
    name: 'unlock',
    path: () => '/deliveries',
    press: [button('Unlock')],
    shown: dialog('Unlock the vault'),
    before: (home) => home.call('POST', '/api/auth/vault/seal'),
  },
];

test('drawers, menus and dialogs on a phone', async ({ home, page, model }) => {
  test.setTimeout(240_000);
  const seeded = await seed(home, model);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const { name, path, press, shown, before } of OPENED) {
    await test.step(name, async () => {
      await before?.(home);
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(path(seeded));
      for (const target of press) await target(page).click();
      await expect(shown(page)).toBeVisible();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect.soft(await violations(page), `${name}, ${colorScheme}`).toEqual([]);
      }
      const over = () => shown(page).evaluate((one) => Math.max(one.scrollWidth - one.clientWidth, one.getBoundingClientRect().right - innerWidth));
      expect.soft(await over(), `${name} is wider than the phone`).toBeLessThanOrEqual(0);
      await page.keyboard.press('Escape');
      await expect(shown(page)).toHaveCount(0);
      await expect(page.locator(':focus'), `${name}: the focus is nowhere`).toHaveCount(1);
      // Resizing closes a menu, so the narrowest width comes last.
      if (shown === menu) return;
      await page.setViewportSize({ width: 320, height: 640 });
      for (const target of press) await target(page).click();
      await expect(shown(page)).toBeVisible();
      expect.soft(await over(), `${name} is wider than the narrowest phone`).toBeLessThanOrEqual(0);
      expect.soft(await violations(page), `${name}, at 320 px`).toEqual([]);
    });
  }
});
