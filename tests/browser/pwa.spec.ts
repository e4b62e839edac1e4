// The installable app: manifest, icons, and the offline page.
import { violations } from './fixtures/axe';
import { expect, test } from './fixtures/test';

interface Icon {
  src: string;
  sizes: string;
  purpose: string;
}

test('the app can be installed, and its icons have the sizes that the manifest declares', async ({ home, page }) => {
  await page.goto('/');
  const session = await page.context().newCDPSession(page);
  const { errors } = await session.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
  // Tests run in an incognito window, where installation is not available.
  expect(installabilityErrors.map((error) => error.errorId).filter((id) => id !== 'in-incognito')).toEqual([]);
  const manifest = (await (await fetch(`${home.origin}/manifest.json`)).json()) as { icons: Icon[] };
  for (const icon of manifest.icons) {
    const size = await page.evaluate(async (src) => {
      const image = new Image();
      image.src = src;
      await image.decode();
      return `${image.naturalWidth}x${image.naturalHeight}`;
    }, icon.src);
    if (icon.sizes !== 'any') expect(size, icon.src).toBe(icon.sizes);
  }
});

test('a visit while the gateway is down shows the offline page and continues when it is back', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/chat');
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await expect.poll(() => page.evaluate(() => caches.keys())).toHaveLength(1);
  await home.stop();
  await page.goto('/deliveries?status=failed');
  await expect(page.getByRole('heading', { name: 'The gateway is not responding' })).toBeVisible();
  await home.run();
  // It continues without a click.
  await expect(page).toHaveURL(`${home.origin}/deliveries?status=failed`);
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  // The browser keeps no response of the gateway.
  const kept = await page.evaluate(async () => {
    const names = await caches.keys();
    const urls = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map((one) => new URL(one.url).pathname)));
    return urls.flat().sort();
  });
  expect(kept).toEqual(['/assets/offline.css', '/assets/offline.html', '/assets/offline.js', '/assets/offline.woff2']);
});

test.describe('a browser set to German', () => {
  test.use({ locale: 'de-AT' });

  test('the offline page has the language, the mark and the typeface of the others', async ({ home, page, complaints }) => {
    complaints.allowDowntime();
    await page.goto('/chat');
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    await home.stop();
    await page.goto('/deliveries');
    await expect(page.getByRole('heading', { name: 'Das Gateway antwortet nicht' })).toBeVisible();
    await expect(page.getByRole('heading')).toHaveCount(1);
    await expect(page).toHaveTitle('Gatehouse antwortet nicht');
    await expect(page.locator('html')).toHaveAttribute('lang', 'de');
    await expect(page.locator('svg')).toBeVisible();
    expect(await page.evaluate(async () => (await document.fonts.load("1rem 'Gatehouse Offline'")).length)).toBe(1);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page)).toEqual([]);
    }
    if (process.env.GATEHOUSE_TEST_SHOTS) await page.screenshot({ path: `${process.env.GATEHOUSE_TEST_SHOTS}/offline.png` });
  });
});
