// Layout of the shell and of parts that many pages share, in narrow windows and without a connection.
import type { Page } from '@playwright/test';
import { cuttable } from './fixtures/downtime';
import { isLive } from './fixtures/entering';
import { overflows } from './fixtures/overflow';
import { expect, test } from './fixtures/test';

const scrollsSideways = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

test.describe('in German', () => {
  test.use({ locale: 'de-DE' });

  test('the header of a phone stays one row while the gateway is away', async ({ home: _, page }) => {
    (await cuttable(page)).cut();
    for (const width of [320, 390, 600]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto('/overview');
      await expect(page.getByRole('button', { name: 'Jetzt versuchen' })).toBeVisible();
      const header = await page.getByRole('banner').boundingBox();
      expect(header?.height, `${width} px`).toBeLessThan(72);
      expect(await scrollsSideways(page), `${width} px`).toBe(false);
    }
    await expect(page.getByRole('status').filter({ hasText: 'Neu verbinden…' })).toHaveCount(1);
  });

  test('the icon of a result stays beside a text that wraps', async ({ home: _, page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto('/channels');
    await page.getByRole('button', { name: 'Test senden über Posteingang' }).click();
    await expect(page.getByText('Gesendet. Prüfen Sie')).toBeVisible();
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      expect((await overflows(page)).filter((one) => one.startsWith('alone')), `${width} px`).toEqual([]);
    }
  });

  test('tabs are one row on a phone, with the selected one in view', async ({ home: _, page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of ['/settings/security/options', '/vault/ssh-keys']) {
      await page.goto(path);
      const tabs = page.getByRole('main').getByRole('navigation', { name: /^Bereiche/ }).getByRole('link');
      await expect(tabs).toHaveCount(4);
      const tops = await tabs.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
      expect(new Set(tops).size, path).toBe(1);
      await expect(tabs.last()).toHaveAttribute('aria-current', 'page');
      await expect(tabs.last()).toBeInViewport({ ratio: 1 });
    }
  });

  test('tabs fit on a phone; on a narrower one they fade at the side to which they scroll', async ({ home: _, page }) => {
    for (const path of ['/settings/security', '/vault']) {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(path);
      const bar = page.getByRole('main').getByRole('navigation', { name: /^Bereiche/ });
      await expect(bar.getByRole('link')).toHaveCount(4);
      await expect(bar, path).toHaveAttribute('data-hidden', '');
      await page.setViewportSize({ width: 320, height: 844 });
      await expect(bar, path).toHaveAttribute('data-hidden', 'right');
      expect(await bar.evaluate((one) => getComputedStyle(one).maskImage)).toContain('gradient');
      await bar.evaluate((one) => one.scrollTo(one.scrollWidth, 0));
      await expect(bar, path).toHaveAttribute('data-hidden', 'left');
    }
  });
});

test('pages that fill the window do not scroll', async ({ home: _, page }) => {
  for (const path of ['/chat', '/deliveries']) {
    await page.goto(path);
    await isLive(page);
    expect(await page.evaluate(() => document.documentElement.scrollHeight), path).toBe(900);
  }
});

test('a large screen shows blocks beside each other, and the titles of all pages begin at one edge', async ({ home: _, page }) => {
  await page.setViewportSize({ width: 2560, height: 1440 });
  const title = page.getByRole('heading', { level: 1 });
  const left = async () => (await title.boundingBox())?.x;
  await page.goto('/webhooks');
  await expect(title).toBeVisible();
  const edge = await left();
  for (const path of ['/agents', '/channels', '/vault', '/overview']) {
    await page.goto(path);
    await expect.poll(left, path).toBe(edge);
  }
  await page.goto('/settings/system');
  const [checks, looks] = [page.getByRole('region', { name: 'Health checks' }), page.getByRole('region', { name: 'Appearance' })];
  await expect(looks).toBeVisible();
  const [first, second] = [await checks.boundingBox(), await looks.boundingBox()];
  expect(second!.x).toBeGreaterThan(first!.x + first!.width);
  await page.setViewportSize({ width: 1440, height: 900 });
  const [above, below] = [await checks.boundingBox(), await looks.boundingBox()];
  expect(below!.y).toBeGreaterThan(above!.y + above!.height);
});

test('the main button of a long dialog is in view, and so is why it failed', async ({ home: _, page, complaints }) => {
  complaints.allow(/status of 503/);
  await page.route('**/api/auth/api-keys', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 503, json: { code: 'STORAGE_UNAVAILABLE', error: 'Down.' } })
      : route.fallback(),
  );
  for (const size of [{ width: 1280, height: 700 }, { width: 390, height: 700 }]) {
    await page.setViewportSize(size);
    await page.goto('/settings/security/access');
    await page.getByRole('button', { name: 'Create an API key' }).first().click();
    const dialog = page.getByRole('dialog');
    const action = dialog.getByRole('button', { name: 'Create', exact: true });
    await expect(action).toBeInViewport({ ratio: 1 });
    // The error of a field is next to it, and all other errors are above the button.
    await action.click();
    await expect(dialog.getByRole('textbox', { name: 'Label' })).toBeFocused();
    await expect(dialog.getByRole('textbox', { name: 'Label' })).toBeInViewport({ ratio: 1 });
    await dialog.getByRole('textbox', { name: 'Label' }).fill('Laptop');
    await action.click();
    await expect(dialog.getByRole('alert').filter({ hasText: 'Down.' })).toBeInViewport({ ratio: 1 });
    await expect(action).toBeInViewport({ ratio: 1 });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Pair a device' }).first().click();
    await expect(dialog.getByRole('button', { name: 'Pair', exact: true })).toBeInViewport({ ratio: 1 });
    await dialog.getByRole('button', { name: 'Pair', exact: true }).click();
    await expect(dialog.getByRole('textbox', { name: 'Label' })).toBeFocused();
    await page.keyboard.press('Escape');
  }
});

test('the parts of a page have titles of their own', async ({ home: _, page }) => {
  for (const [path, title] of [
    ['/vault', 'Vault: State'],
    ['/vault/ssh-keys', 'Vault: SSH keys'],
    ['/settings/system/backups', 'System: Backups'],
    ['/settings/security/access', 'Security: Keys and devices'],
  ] as const) {
    await page.goto(path);
    await expect(page).toHaveTitle(`${title} · Gatehouse`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
  }
});
