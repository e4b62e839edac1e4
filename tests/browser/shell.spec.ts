// The shell around every page.
import { violations } from './fixtures/axe';
import { expect, PASSWORD, test } from './fixtures/test';

test('connection status, navigation, an unknown URL, and the theme', async ({ home, page }) => {
  await page.goto('/');
  await expect(page).toHaveURL(`${home.origin}/overview`);
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await expect(page).toHaveURL(`${home.origin}/deliveries`);
  await page.goto('/nothing/here');
  await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Account and theme' }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Account and theme' }).click();
  await expect(page.getByRole('menuitemradio', { name: 'Dark' })).toBeChecked();
});

test('the page reports a stopped gateway and recovers automatically', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await page.goto('/chat');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await home.stop();
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  await home.run();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  // The vault is sealed after a restart and can be unlocked from the current page.
  await page.getByRole('button', { name: 'Unlock' }).click();
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('correct horse battery staple');
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock', exact: true }).click();
  await expect(page.getByText('The vault is sealed.')).toHaveCount(0);
});

test('preload hints are sent only to authenticated visitors', async ({ home: _, page }) => {
  for (const path of ['/', '/chat', '/deliveries', '/webhooks', '/settings/security']) {
    const link = (await page.goto(path))?.headers()['link'] ?? '';
    expect(link, path).toMatch(/<\/assets\/frame-[\w-]+\.js>; rel=modulepreload/);
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    const requested = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname));
    // Every hinted file is used and fetched once.
    for (const [, file] of link.matchAll(/<([^>]+)>/g)) expect(requested.filter((one) => one === file), file).toHaveLength(1);
  }
  const linkOf = async (path: string) => (await page.request.get(path)).headers()['link'];
  expect(await linkOf('/chat')).toContain('modulepreload');
  expect(await linkOf('/nothing')).toBeUndefined();
  await page.context().clearCookies();
  for (const path of ['/', '/chat', '/onboarding']) expect(await linkOf(path), path).toBeUndefined();
});

test('a visitor whose session ended gets the login, with no API call but the status check', async ({ home, page, context }) => {
  await page.goto('/deliveries?status=failed');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await context.clearCookies();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.reload();
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(PASSWORD);
  expect(asked).toContain('/api/auth/status');
  expect(asked.filter((path) => /^\/(api\/(?!auth\/)|ws\/)/.test(path))).toEqual([]);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Deliveries' })).toBeVisible();
  expect(page.url()).toBe(`${home.origin}/deliveries?status=failed`);
});

test('an unanswered identity request is reported and retried', async ({ home, page }) => {
  await page.goto('/deliveries');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await page.route('**/api/auth/status', () => undefined);
  await page.reload();
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible({ timeout: 25_000 });
  await page.unroute('**/api/auth/status');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  expect(page.url()).toBe(`${home.origin}/deliveries`);
});
