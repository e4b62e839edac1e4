// Chat: formulas are drawn as MathML, loaded with the first one; prices and mistakes stay text.
import { violations } from './fixtures/axe';
import { expect } from './fixtures/test';
import { test } from './fixtures/with-model';

test('formulas are drawn, and nothing is loaded for a text without one', async ({ home, page, model }) => {
  void home;
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
  const isLoaded = () => loaded.some((path) => path.includes('mathematics'));
  await page.goto('/chat');
  const writing = page.getByRole('textbox', { name: 'Message' });
  const messages = page.getByRole('region', { name: 'Messages' });
  model.next({ text: ['It costs $5 to $10, and `$x$` is code.'] });
  await writing.fill('What does it cost?');
  await writing.press('Enter');
  await expect(messages.getByText('It costs $5 to $10')).toBeVisible();
  expect(isLoaded()).toBe(false);

  const answer = 'The roots are $x = \\frac{-b}{2a}$, and\n\n$$\n\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}\n$$\n\n';
  model.next({ text: [answer, 'while $\\frac{1$ and $\\href{https://evil.example}{y}$ stay.'] });
  await writing.fill('And the roots?');
  await writing.press('Enter');
  await expect(messages.locator('math')).toHaveCount(2);
  expect(isLoaded()).toBe(true);
  const block = messages.getByRole('group', { name: 'Formula' });
  await expect(block.locator('munderover, msubsup')).toHaveCount(1);
  const [inline, drawn] = [await messages.locator('span.formula math').boundingBox(), await block.boundingBox()];
  expect(drawn?.height).toBeGreaterThan(inline?.height ?? 0);
  await expect(messages.getByText('\\frac{1', { exact: true })).toBeVisible();
  await expect(messages.locator('a[href*="evil"]')).toHaveCount(0);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await violations(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  // The list of messages adapts to the new width after the next layout.
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  if (process.env.GATEHOUSE_TEST_SHOTS) await page.screenshot({ path: `${process.env.GATEHOUSE_TEST_SHOTS}/mathematics.png` });
});
