// Scrolls ten thousand deliveries with the wheel. The result is the worst half second.
import { withBrowser } from './browser.mjs';
import { row } from './table.mjs';

const ROWS = 10_000;
const SECONDS = 5;
/** Pixels per second, as when a user scrolls fast. */
const SPEED = 8_000;
const WINDOW_MS = 500;

export async function measureFrames(gateway) {
  await gateway.seed({ deliveries: ROWS });
  return withBrowser(async (context) => {
    await context.addCookies(gateway.cookies);
    const page = await context.newPage();
    await page.goto(`${gateway.origin}/deliveries`);
    const rows = page.locator('[data-id]');
    await rows.first().focus();
    // Scrolls to the end of the list and back, so that all rows are loaded.
    for (let tries = 0; !(await page.getByText('End of list').isVisible()); tries++) {
      if (tries > 300) throw new Error('the end of the list was not reached');
      await page.keyboard.press('End');
      await page.waitForTimeout(100);
    }
    await page.keyboard.press('End');
    const count = Number(await page.locator('li[aria-setsize]').last().getAttribute('aria-setsize'));
    if (count < ROWS) throw new Error(`the list has ${count} rows only`);
    await page.keyboard.press('Home');
    await page.waitForTimeout(500);

    await page.evaluate(() => {
      globalThis.frames_at = [];
      globalThis.most_rows = 0;
      const frame = (at) => {
        globalThis.frames_at.push(at);
        globalThis.most_rows = Math.max(globalThis.most_rows, document.querySelectorAll('[data-id]').length);
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    const box = await rows.first().boundingBox();
    await page.mouse.move(box.x + 40, 600);
    // The wheel is turned inside the browser: from outside, each turn would wait for the previous one.
    const devtools = await context.newCDPSession(page);
    await devtools.send('Input.synthesizeScrollGesture', {
      x: Math.round(box.x + 40),
      y: 600,
      yDistance: -SPEED * SECONDS,
      speed: SPEED,
      gestureSourceType: 'mouse',
    });
    const { frames, most, top } = await page.evaluate(() => ({
      frames: globalThis.frames_at,
      most: globalThis.most_rows,
      top: Math.max(...[...document.querySelectorAll('div')].map((one) => one.scrollTop)),
    }));
    if (top < 20_000) throw new Error(`the list was scrolled by ${top} pixels only`);
    return [
      row(`frames/s while ${count} deliveries are scrolled, worst ${WINDOW_MS} ms`, { least: 58 }, worst(frames)),
      row('rows in the page meanwhile, at most', { most: 100 }, most),
    ];
  });
}

/** The minimum number of frames in any window, as frames per second. */
function worst(frames) {
  let fewest = Infinity;
  for (let begin = frames[0]; begin + WINDOW_MS <= frames.at(-1); begin += 50) {
    fewest = Math.min(fewest, frames.filter((at) => at >= begin && at < begin + WINDOW_MS).length);
  }
  if (!Number.isFinite(fewest)) throw new Error('no frames were counted');
  return Math.round((fewest * 1000) / WINDOW_MS);
}
