// Looking closer at deliveries: compared payloads, saved filters, a period chosen in the chart, live rows under a pattern.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { holdConnection, isLive, logInByPassword } from './fixtures/entering';
import { refuse, useHttp } from './fixtures/refuse';
import { elsewhere } from './fixtures/security';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, test, type Gateway } from './fixtures/test';

const rows = (page: Page) => page.locator('[data-id]');
const inbox = (gateway: Gateway) =>
  makeWebhook(gateway, { name: 'House', source_profile: 'codehost_a', deliver_only: true, deliver_to: 'inbox' });

test('a payload is compared with the previous one of its kind', async ({ home, page }) => {
  const hook = await inbox(home);
  const first = await deliver(home, hook, pullRequest(7, 'Paint the door'), { event: 'pull_request' });
  await deliver(home, hook, { zen: 'Keep it simple.' }, { event: 'push' });
  const second = await deliver(home, hook, pullRequest(8, 'Paint the gate'), { event: 'pull_request' });
  await page.goto(`/deliveries/${second.body.delivery_id}?tab=payload`);
  await page.getByRole('button', { name: 'Compare' }).click();
  const changes = page.getByRole('region', { name: 'Compare' });
  await expect(changes.locator('del').filter({ hasText: 'Paint the door' })).toHaveCount(1);
  await expect(changes.locator('ins').filter({ hasText: 'Paint the gate' })).toHaveCount(1);
  await expect(page.getByText('Compared with the previous delivery of this kind')).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.goto(`/deliveries/${first.body.delivery_id}?tab=payload`);
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.getByText('No earlier delivery of this kind has a stored payload.')).toBeVisible();
});

test('a comparison searches further through empty pages, and states how far', async ({ home, page }) => {
  const hook = await inbox(home);
  await deliver(home, hook, pullRequest(7, 'Paint the door'), { event: 'pull_request' });
  const second = await deliver(home, hook, pullRequest(8, 'Paint the gate'), { event: 'pull_request' });
  const cursor = String(second.body.delivery_id);
  let empty = 4;
  await useHttp(page);
  await page.route(/\/api\/rpc$/, (route) => {
    const body = route.request().postDataJSON() as { method?: string; params?: { until?: string | null } } | null;
    if (body?.method !== 'webhooks.deliveries' || !body.params?.until || empty === 0) return route.fallback();
    empty -= 1;
    return route.fulfill({ json: { jsonrpc: '2.0', id: 1, result: { deliveries: [], next_cursor: cursor } } });
  });
  const compare = async () => {
    await page.goto(`/deliveries/${cursor}?tab=payload`);
    await page.getByRole('button', { name: 'Compare' }).click();
  };
  await compare();
  const changes = page.getByRole('region', { name: 'Compare' });
  await expect(changes.locator('del').filter({ hasText: 'Paint the door' })).toHaveCount(1);
  empty = 5;
  await compare();
  await expect(page.getByText(/^Among the 10,000 deliveries before this one, none/)).toBeVisible();
});

test('a delivery that comes before the page is live is listed', async ({ home, page }) => {
  const hook = await inbox(home);
  await deliver(home, hook, pullRequest(7), { event: 'pull_request' });
  const connect = await holdConnection(page);
  await page.goto('/deliveries');
  await expect(rows(page)).toHaveCount(1);
  await deliver(home, hook, pullRequest(8), { event: 'pull_request' });
  connect();
  await isLive(page);
  await expect(rows(page)).toHaveCount(2);
});

test('filters are saved under a name, and show the same list again', async ({ home, page }) => {
  const hook = await inbox(home);
  await deliver(home, hook, pullRequest(7), { event: 'pull_request' });
  await deliver(home, hook, { zen: 'x' }, { event: 'push' });
  await page.goto('/deliveries');
  await expect(rows(page)).toHaveCount(2);
  await page.getByLabel('Event type', { exact: true }).fill('push');
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'Save filters' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save filters' });
  await dialog.getByRole('button', { name: 'Save filters' }).click();
  await expect(dialog.getByText('Enter a name.')).toBeVisible();
  await dialog.getByLabel('Name').fill('Only pushes');
  await dialog.getByRole('button', { name: 'Save filters' }).click();
  const saved = page.getByRole('group', { name: 'Saved filters' }).getByRole('link', { name: 'Only pushes' });
  await expect(saved).toHaveAttribute('aria-current', 'true');
  expect(await violations(page)).toEqual([]);
  await page.goto('/deliveries');
  await expect(rows(page)).toHaveCount(2);
  await saved.click();
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'Delete saved filters Only pushes' }).click();
  await expect(saved).toHaveCount(0);
});

test('saved filters are in every browser, and a logout keeps them', async ({ home, page, browser, complaints }) => {
  const hook = await inbox(home);
  await deliver(home, hook, { zen: 'x' }, { event: 'push' });
  const [other, otherPage] = await elsewhere(browser, home, complaints);
  for (const window of [page, otherPage]) {
    await window.goto('/deliveries?event=push');
    await isLive(window);
    await expect(rows(window)).toHaveCount(1);
  }
  const saved = (window: Page) => window.getByRole('group', { name: 'Saved filters' }).getByRole('link');
  const save = async (window: Page, name: string) => {
    await window.getByRole('button', { name: 'Save filters' }).click();
    await window.getByRole('dialog').getByLabel('Name').fill(name);
    await window.getByRole('dialog').getByRole('button', { name: 'Save filters' }).click();
  };
  // Both dialogs are open before either saves.
  await otherPage.goto('/deliveries?status=completed');
  await isLive(otherPage);
  await otherPage.getByRole('button', { name: 'Save filters' }).click();
  await otherPage.getByRole('dialog').getByLabel('Name').fill('Theirs');
  await save(page, 'Mine');
  await expect(saved(page)).toHaveText(['Mine']);
  await otherPage.getByRole('dialog').getByRole('button', { name: 'Save filters' }).click();
  for (const window of [page, otherPage]) await expect(saved(window)).toHaveText(['Mine', 'Theirs']);
  await otherPage.getByRole('button', { name: 'Delete saved filters Theirs' }).click();
  await expect(saved(page)).toHaveText(['Mine']);
  await other.close();

  await page.getByRole('button', { name: 'Account and theme' }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await logInByPassword(page);
  await isLive(page);
  await page.goto('/deliveries');
  await expect(saved(page)).toHaveText(['Mine']);
});

test('a filter that the gateway did not store stays in its dialog', async ({ home, page, complaints }) => {
  complaints.allow(/status of 503/);
  const hook = await inbox(home);
  await deliver(home, hook, { zen: 'x' }, { event: 'push' });
  await useHttp(page);
  await page.goto('/deliveries?event=push');
  await page.getByRole('button', { name: 'Save filters' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save filters' });
  await dialog.getByLabel('Name').fill('Only pushes');
  const mend = await refuse(page, 'preferences.set');
  await dialog.getByRole('button', { name: 'Save filters' }).click();
  await expect(dialog.getByRole('alert')).toContainText('Down.');
  await expect(dialog.getByLabel('Name')).toHaveValue('Only pushes');
  await mend();
  await dialog.getByRole('button', { name: 'Save filters' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Only pushes' })).toBeVisible();
});

test('filters and prompts that an earlier version kept in the browser move to the gateway', async ({ home, page }) => {
  await home.rpc('preferences.set', { kind: 'prompts', name: 'Standup', value: 'Theirs.' });
  await page.addInitScript(() => {
    if (sessionStorage.getItem('kept')) return;
    sessionStorage.setItem('kept', '1');
    localStorage.setItem('delivery filters', JSON.stringify([{ name: 'Only pushes', query: 'event=push' }]));
    localStorage.setItem('prompts', JSON.stringify([{ name: 'Standup', text: 'Mine.' }]));
  });
  await page.goto('/overview');
  await expect.poll(() => home.rpc('preferences.get')).toEqual({
    saved_filters: [{ name: 'Only pushes', value: 'event=push' }],
    prompts: [
      { name: 'Standup', value: 'Theirs.' },
      { name: 'Standup (2)', value: 'Mine.' },
    ],
  });
  await expect.poll(() => page.evaluate(() => [localStorage.getItem('prompts'), localStorage.getItem('delivery filters')])).toEqual([null, null]);
});

test('dragging over the chart shows the deliveries of that period, also from the overview', async ({ home, page }) => {
  const hook = await inbox(home);
  await deliver(home, hook, pullRequest(7), { event: 'pull_request' });
  await page.goto('/overview');
  const chart = page.getByRole('slider', { name: 'Chart position' });
  await expect(chart).toBeVisible();
  const { x, y, width, height } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(x + width * 0.8, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.9, y + height / 2);
  await page.mouse.move(x + width - 2, y + height / 2);
  await page.mouse.up();
  await expect(page).toHaveURL(/\/deliveries\?from=[^&]+&until=/);
  const asked = new URL(page.url()).searchParams;
  const hours = (Date.parse(asked.get('until') ?? '') - Date.parse(asked.get('from') ?? '')) / 3_600_000;
  expect(hours).toBe(5);
  await expect(rows(page)).toHaveCount(1);
});

test('a delivery that arrives while the list is filtered by a pattern appears in it', async ({ home, page }) => {
  const hook = await inbox(home);
  await deliver(home, hook, pullRequest(7), { event: 'pull_request' });
  await page.goto('/deliveries?event=pull_request.*');
  await isLive(page);
  await expect(rows(page)).toHaveCount(1);
  await deliver(home, hook, { zen: 'x' }, { event: 'push' });
  await deliver(home, hook, pullRequest(8), { event: 'pull_request' });
  await expect(rows(page)).toHaveCount(2);
});
