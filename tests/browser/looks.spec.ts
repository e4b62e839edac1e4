// How the page looks: its own fonts without a jump, compact lists, the gate that closes with the vault, deliveries at the gate.
import type { Page } from '@playwright/test';
import { isLive } from './fixtures/entering';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect } from './fixtures/test';
import { test } from './fixtures/with-model';

const gate = (page: Page) => page.getByRole('link', { name: 'Gatehouse' }).locator('svg');

test('the fonts come from the gateway, and a late one moves no text', async ({ home, page }) => {
  const fonts: string[] = [];
  page.on('request', (request) => request.resourceType() === 'font' && fonts.push(new URL(request.url()).origin));
  await page.goto('/settings/system');
  await isLive(page);
  await expect.poll(() => page.evaluate(() => document.fonts.check('16px "Gatehouse Sans"'))).toBe(true);
  expect(new Set(fonts)).toEqual(new Set([home.origin]));

  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\.woff2$/, async (route) => {
    await released;
    await route.continue().catch(() => undefined);
  });
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  // `load` waits for the fonts.
  await page.reload({ waitUntil: 'commit' });
  await isLive(page);
  await expect(page.getByText('All checks passed.')).toBeVisible();
  // Until then, a late font still replaces its fallback.
  await page.waitForFunction(() => performance.now() > 4_000);
  const moved = page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += (entry as PerformanceEntry & { value: number }).value;
        }).observe({ type: 'layout-shift' });
        void document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum))));
      }),
  );
  release();
  expect(await moved).toBeLessThan(0.005);
});

test('figures have the same width in both typefaces, and code has no ligatures', async ({ home: _, page }) => {
  await page.goto('/settings/system');
  await page.evaluate(() => Promise.all(['Sans', 'Mono'].map((name) => document.fonts.load(`40px "Gatehouse ${name}"`))));
  const widths = await page.evaluate(() => {
    const span = document.createElement('span');
    document.querySelector('main')?.append(span);
    const widthOf = (text: string, font: string) => {
      span.textContent = text;
      span.style.cssText = `position:absolute;font:400 40px ${font};font-variant-numeric:tabular-nums;font-variant-ligatures:none`;
      // Rounds what floating point adds while the page still moves in.
      return Number(span.getBoundingClientRect().width.toFixed(2));
    };
    return ['1111', '8888'].map((text) => [widthOf(text, '"Gatehouse Sans"'), widthOf(text, '"Gatehouse Mono"')]);
  });
  expect(widths[0]).toEqual(widths[1]);
});

test('compact lists have lower rows, and are remembered', async ({ home, page, model: _ }) => {
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  await deliver(home, hook, pullRequest(), { event: 'pull_request' });
  // Rows have one line in wide lists.
  await page.setViewportSize({ width: 1440, height: 900 });
  const height = async () => {
    await page.goto('/deliveries');
    const box = await page.locator('a[data-row]').first().boundingBox();
    // Rounds what floating point adds while the page still moves in.
    return box && Math.round(box.height);
  };
  expect(await height()).toBe(44);
  await page.goto('/settings/system');
  const compact = page.getByRole('switch', { name: 'Compact lists' });
  await compact.check();
  await page.reload();
  await expect(compact).toBeChecked();
  expect(await height()).toBe(32);
  await page.goto('/settings/system');
  await compact.uncheck();
  expect(await height()).toBe(44);
});

test('the gate closes when the vault is sealed', async ({ home, page }) => {
  await page.goto('/vault');
  await isLive(page);
  await expect(gate(page)).not.toHaveClass(/closed/);
  await home.call('POST', '/api/auth/vault/seal');
  await expect(gate(page)).toHaveClass(/closed/);
});

test('a delivery passes the gate on the overview as it arrives, and moves only with motion', async ({ home, page, model: _ }) => {
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await page.goto('/overview');
  await isLive(page);
  const way = page.getByRole('region', { name: 'Incoming deliveries' });
  await expect(way.getByText('New deliveries appear here as they arrive.')).toBeVisible();
  await page.evaluate(() => {
    const counts = { passed: 0 };
    Object.assign(window, { counts });
    document.addEventListener('animationstart', (event) => void (/pass$/.test(event.animationName) && counts.passed++));
  });
  const passed = () => page.evaluate(() => (window as unknown as { counts: { passed: number } }).counts.passed);
  await deliver(home, hook, pullRequest(), { event: 'pull_request' });
  await expect(way.getByRole('link', { name: 'ada opened pull request #7: Mend the gate' })).toBeVisible();
  await expect(way.getByText('Completed')).toBeVisible();
  await expect.poll(passed).toBe(1);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const first = await way.getByRole('link').getAttribute('href');
  await deliver(home, hook, pullRequest(), { event: 'pull_request' });
  await expect(way.getByRole('link')).not.toHaveAttribute('href', first ?? '');
  expect(await passed()).toBe(1);
});

test('an open menu stays at its button while the page scrolls, and closes with the button out of sight', async ({ home, page }) => {
  const names = Array.from({ length: 12 }, (_, at) => `VARIABLE_${at + 10}`);
  for (const key of names) await home.rpc('env.set', { key, value: 'x' });
  await page.setViewportSize({ width: 1024, height: 500 });
  await page.goto('/vault/environment');
  await isLive(page);
  const button = page.getByRole('button', { name: 'Actions for VARIABLE_13' });
  await button.evaluate((one) => one.scrollIntoView({ block: 'center' }));
  await button.click();
  const menu = page.getByRole('menu', { name: 'Actions for VARIABLE_13' });
  const distance = async () => {
    const [of, at] = [await button.boundingBox(), await menu.boundingBox()];
    return of && at ? Math.min(Math.abs(at.y - of.y - of.height), Math.abs(of.y - at.y - at.height)) : Infinity;
  };
  await expect.poll(distance).toBeLessThan(8);
  const before = await button.boundingBox();
  await page.mouse.wheel(0, 60);
  await expect.poll(async () => (await button.boundingBox())?.y).toBeLessThan((before?.y ?? 0) - 30);
  await expect.poll(distance).toBeLessThan(8);
  await page.mouse.wheel(0, 2_000);
  await expect(menu).toBeHidden();
});
