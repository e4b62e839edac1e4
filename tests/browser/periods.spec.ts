// The period of lists that the page has loaded: with more than five entries, keys and secrets can be limited to a period.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { useHttp } from './fixtures/refuse';
import { expect, test } from './fixtures/test';

const time = (page: Page) => page.getByLabel('Time', { exact: true });

/** Chooses a day in 2020, when nothing was created. */
async function chooseOld(page: Page): Promise<void> {
  await time(page).selectOption('Choose a period');
  const dialog = page.getByRole('dialog', { name: 'Choose a period' });
  await dialog.getByLabel('From').fill('2020-01-01T00:00');
  await dialog.getByLabel('Until').fill('2020-01-02T00:00');
  await dialog.getByRole('button', { name: 'Show' }).click();
}

test('API keys of a period are those that were created or used in it', async ({ home, page }) => {
  const create = (label: string) => home.call('POST', '/api/auth/api-keys', { label, scopes: ['operator.read'] });
  for (const label of ['One', 'Two', 'Three', 'Four', 'Five']) await create(label);
  await page.goto('/settings/security/access');
  const rows = page.getByRole('list', { name: 'API keys' }).getByRole('listitem');
  await expect(rows).toHaveCount(5);
  await expect(time(page)).toHaveCount(0);
  await create('Six');
  await page.reload();
  await expect(rows).toHaveCount(6);
  await time(page).selectOption('Last hour');
  await expect(rows).toHaveCount(6);
  await chooseOld(page);
  await expect(page.getByText('No entries in this period.')).toBeVisible();
  await expect(rows).toHaveCount(0);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await violations(page), `${width} px`).toEqual([]);
  }
  await time(page).selectOption('Any time');
  await expect(rows).toHaveCount(6);
});

test('devices of a period are searched on all pages, and the page does not claim before that there are none', async ({ home: _, page, complaints }) => {
  complaints.allow(/status of 503/);
  const device = (number: number, created_at: string) => ({
    id: `dev_${number}`,
    label: `Device ${number}`,
    scopes: ['operator.read'],
    online: false,
    last_seen_at: null,
    created_at,
    expires_at: null,
    allowed_cidrs: null,
    only: null,
    made_by: null,
  });
  const recent = Array.from({ length: 50 }, (_, at) => device(at + 1, new Date().toISOString()));
  let isDown = true;
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  await useHttp(page);
  await page.route(/\/api\/rpc$/, async (route) => {
    const { method, params } = route.request().postDataJSON() as { method: string; params: { cursor?: string | null } };
    if (method !== 'pairing.list') return route.fallback();
    const answer = (result: object) => route.fulfill({ json: { jsonrpc: '2.0', id: 1, result } });
    if (!params.cursor) return answer({ devices: recent, next_cursor: '50' });
    await held;
    if (isDown) return route.fulfill({ status: 503, json: { code: 'STORAGE_UNAVAILABLE', error: 'Down.' } });
    return answer({ devices: [device(51, '2020-01-01T12:00:00Z')] });
  });
  await page.goto('/settings/security/access');
  const rows = page.getByRole('list', { name: 'Paired devices' }).getByRole('listitem');
  await expect(rows).toHaveCount(50);
  await chooseOld(page);
  await expect(page.getByRole('status').filter({ hasText: 'Loading…' })).toBeVisible();
  await expect(page.getByText('No entries in this period.')).toHaveCount(0);
  go();
  await expect(page.getByRole('alert').filter({ hasText: 'Down.' })).toBeVisible({ timeout: 30_000 });
  await expect(page.getByRole('status').filter({ hasText: 'Loading…' })).toHaveCount(0);
  await expect(page.getByText('No entries in this period.')).toHaveCount(0);
  isDown = false;
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('Device 51');
});

test('secrets of a period are those that were changed or used in it', async ({ home, page }) => {
  for (const key of ['A', 'B', 'C', 'D', 'E', 'F']) await home.rpc('env.set', { key, value: 'x' });
  await page.goto('/vault/environment');
  const variables = page.getByRole('list', { name: 'Variables' }).getByRole('listitem');
  await expect(variables).toHaveCount(6);
  await chooseOld(page);
  await expect(page.getByText('No entries in this period.')).toBeVisible();
  await time(page).selectOption('24 hours');
  await expect(variables).toHaveCount(6);

  await page.goto('/vault/stored');
  await expect(page.getByText('6 found')).toBeVisible();
  await chooseOld(page);
  await expect(page.getByText('0 found')).toBeVisible();
  await time(page).selectOption('Any time');
  await expect(page.getByText('6 found')).toBeVisible();
  await page.setViewportSize({ width: 320, height: 700 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
});
