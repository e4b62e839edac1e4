// Measures the time from a press to the next paint with the browser's Event Timing. The result is the worst
// interaction of each page.
import { withBrowser } from './browser.mjs';
import { PASSWORD } from './gateway.mjs';
import { row } from './table.mjs';

/**
 * Counts the interactions that the browser measures from now on. The browser does not report interactions under
 * 16 ms, so they count as 16 ms.
 */
const observe = () => {
  globalThis.timed = new Map();
  new PerformanceObserver((list) => {
    for (const { interactionId, duration, name, target } of list.getEntries()) {
      if (!interactionId) continue;
      const before = globalThis.timed.get(interactionId);
      if (!before || before.duration < duration) {
        globalThis.timed.set(interactionId, { duration, name, on: target?.tagName ?? '' });
      }
    }
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
};

async function worst(page, name) {
  // The timing of the last interaction is reported after its paint.
  await page.waitForTimeout(400);
  const { all, interactions } = await page.evaluate(() => ({
    all: [...globalThis.timed.values()],
    interactions: performance.interactionCount ?? 0,
  }));
  if (interactions === 0 && all.length === 0) throw new Error(`${name}: the browser timed no interaction`);
  const slowest = all.toSorted((a, b) => b.duration - a.duration).slice(0, 3);
  if ((slowest[0]?.duration ?? 0) > 100) {
    process.stderr.write(`  ${name}: ${slowest.map((one) => `${one.name} on ${one.on} ${one.duration} ms`).join(', ')}\n`);
  }
  return row(`interaction to next paint, worst, ${name}`, { most: 100 }, Math.max(16, Math.round(slowest[0]?.duration ?? 16)), 'ms');
}

export async function measureInteractions(gateway, model) {
  const on = (cookies, use) =>
    withBrowser(async (context) => {
      if (cookies.length > 0) await context.addCookies(cookies);
      const page = await context.newPage();
      await page.addInitScript(observe);
      return use(page);
    });
  return [
    await on([], (page) => login(page, gateway)),
    await on(gateway.cookies, (page) => chat(page, gateway, model)),
    await on(gateway.cookies, (page) => deliveries(page, gateway)),
    await on(gateway.cookies, (page) => overview(page, gateway)),
  ];
}

async function login(page, gateway) {
  await page.goto(`${gateway.origin}/chat`);
  const field = page.getByLabel('Password', { exact: true });
  await field.click();
  await page.keyboard.type('not the password', { delay: 30 });
  await page.getByRole('button', { name: 'Show' }).first().click();
  await page.keyboard.press('Tab');
  await field.fill('');
  await field.click();
  await page.keyboard.type(PASSWORD, { delay: 15 });
  return worst(page, 'login');
}

async function chat(page, gateway, model) {
  await page.goto(`${gateway.origin}/chat`);
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.click();
  await page.keyboard.type('Tell me of the gate.', { delay: 20 });
  model.words = 1_500;
  model.pause_ms = 8;
  await page.keyboard.press('Enter');
  await page.getByText('The gate stands open').last().waitFor();
  // Measured while the answer streams.
  await field.click();
  await page.keyboard.type('And of the lamp, and of whoever knocks?', { delay: 40 });
  await page.getByRole('button', { name: 'Account and theme' }).click();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await field.click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
  const measured = await worst(page, 'chat while an answer streams');
  const streaming = await page.getByRole('button', { name: 'Stop' }).isVisible();
  if (!streaming) throw new Error('the answer ended before the measurement did');
  model.words = 20;
  model.pause_ms = 0;
  return measured;
}

async function deliveries(page, gateway) {
  await page.goto(`${gateway.origin}/deliveries`);
  const rows = page.locator('[data-id]');
  const done = rows.filter({ hasText: 'Completed' });
  await done.nth(2).click();
  await page.getByRole('tab', { name: 'Payload' }).click();
  await page.getByRole('tree').waitFor();
  for (const at of [4, 1, 3]) {
    await done.nth(at).click();
    await page.getByRole('tree').waitFor();
  }
  for (let step = 0; step < 8; step++) await page.keyboard.press(step % 2 ? 'ArrowUp' : 'ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('tree').waitFor();
  await page.getByRole('button', { name: 'Raw' }).click();
  await page.getByRole('button', { name: 'Tree' }).click();
  await page.getByPlaceholder('Search in the payload').click();
  await page.keyboard.type('ada', { delay: 40 });
  await page.getByRole('button', { name: '7 days' }).click();
  await page.getByLabel('Search', { exact: true }).click();
  await page.keyboard.type('change 1', { delay: 40 });
  await rows.first().waitFor();
  return worst(page, 'deliveries');
}

async function overview(page, gateway) {
  await page.goto(`${gateway.origin}/overview`);
  const slider = page.getByRole('slider').first();
  await slider.focus();
  for (let step = 0; step < 6; step++) await page.keyboard.press('ArrowLeft');
  await page.getByRole('button', { name: '7 days' }).click();
  await page.keyboard.press('ControlOrMeta+K');
  const palette = page.getByRole('dialog');
  await palette.waitFor();
  await page.keyboard.type('webhooks', { delay: 40 });
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  return worst(page, 'overview and palette');
}
