// The overview: received deliveries, what needs the owner, and the charts, updated live.
import type { Page } from '@playwright/test';
import { heading, isLive, isSound } from './fixtures/entering';
import { useHttp } from './fixtures/refuse';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect } from './fixtures/test';
import { test } from './fixtures/with-model';

const tile = (page: Page, name: string) =>
  page.getByRole('region', { name: /^Last/ }).getByRole('link', { name: new RegExp(`^\\d+ ?${name}$`) });
const needs = (page: Page) => page.getByRole('list', { name: 'Needs attention' });

test('an empty gateway says so and leads to the first webhook', async ({ home: _, page }) => {
  await page.goto('/overview');
  await expect(needs(page).getByText('Nothing needs your attention right now.')).toBeVisible();
  await expect(tile(page, 'Received')).toHaveText(/^0/);
  await isSound(page, 'overview-empty');
  await page.getByRole('link', { name: 'Create a webhook' }).click();
  await expect(heading(page, 'New webhook')).toBeVisible();
});

test('on a phone the overview links to the pages that are not in the bar', async ({ home, page }) => {
  const elsewhere = page.getByRole('navigation', { name: 'More pages' });
  await page.goto('/overview');
  await isLive(page);
  await expect(needs(page)).toBeVisible();
  await expect(elsewhere).toHaveCount(0);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(elsewhere.getByRole('link')).toHaveText(['Webhooks', 'Agents', 'Channels', 'Vault', 'Settings']);
  await elsewhere.getByRole('link', { name: 'Channels' }).click();
  await expect(page).toHaveURL(`${home.origin}/channels`);
});

test('the account menu leads to the keys and devices', async ({ home, page }) => {
  await page.goto('/overview');
  await page.getByRole('button', { name: 'Account and theme' }).click();
  await page.getByRole('menuitem', { name: 'Keys and devices' }).click();
  await expect(page).toHaveURL(`${home.origin}/settings/security/access`);
});

test('counts follow the deliveries, and what failed or was refused leads to its list', async ({ home, page, model }) => {
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  await page.goto('/overview');
  await isLive(page);
  await expect(tile(page, 'Received')).toHaveText(/^0/);
  await deliver(home, hook, pullRequest(), { event: 'pull_request' });
  await expect(tile(page, 'Completed')).toHaveText(/^1/);
  await deliver(home, hook, pullRequest(), { event: 'pull_request', secret: 'not the secret' });
  await expect(tile(page, 'Rejected')).toHaveText(/^1/);
  model.next({ finish: 'content_filter' });
  await deliver(home, hook, pullRequest(), { event: 'pull_request' });
  await expect(tile(page, 'Failed')).toHaveText(/^1/);
  await expect(tile(page, 'Received')).toHaveText(/^3/);
  await expect(page.getByRole('region', { name: 'Latency' }).getByText(/^Average .+, 95% within/)).toBeVisible({ timeout: 20_000 });
  // The card of the usage has a chart of its own.
  const chart = page.getByRole('region', { name: 'Deliveries over time' });
  const reading = chart.getByRole('slider', { name: 'Chart position' });
  await reading.focus();
  // If the hour has changed since the delivery, the second last bar contains it.
  await expect(async () => {
    const completed = page.getByText(/1 completed.*, average .+, 95% within/);
    await reading.press('End');
    if (!(await completed.isVisible())) await reading.press('ArrowLeft');
    await expect(completed).toBeVisible({ timeout: 1_000 });
  }).toPass({ timeout: 15_000 });
  await needs(page).getByRole('link', { name: '1 delivery failed' }).click();
  await expect(page).toHaveURL(`${home.origin}/deliveries?status=failed&time=day`);
  await page.goBack();
  await tile(page, 'Rejected').click();
  await expect(page).toHaveURL(`${home.origin}/deliveries?status=rejected&time=day`);
});

test('what needs the owner is named: expiring keys, used-up budgets, missing secrets', async ({ home, page }) => {
  const expires_at = new Date(Date.now() + 3 * 86_400_000).toISOString();
  await home.call('POST', '/api/auth/api-keys', { label: 'Laptop', scopes: ['operator.read'], expires_at });
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  await makeWebhook(home, { name: 'Shop', source_profile: 'payments' });
  await home.rpc('budgets.set', { scope: 'all', period: 'day', tokens: 20 });
  await page.goto('/overview');
  await isLive(page);
  await expect(needs(page).getByText('API key “Laptop” expires in 3 days')).toBeVisible();
  await expect(needs(page).getByText('Shop waits for the sender’s signing secret')).toBeVisible();
  await expect(needs(page).getByText('Budget “Everything”')).toHaveCount(0);
  // The agent uses 19 tokens while the page is open.
  await deliver(home, hook, pullRequest(), { event: 'pull_request' });
  await expect(needs(page).getByText('Budget “Everything” is at 95%')).toBeVisible();
  await home.rpc('budgets.set', { scope: 'all', period: 'day', tokens: 19 });
  await expect(needs(page).getByText('Budget “Everything” is used up')).toBeVisible();
  // Several stand beside each other on a wide screen, so that the list leaves no empty half.
  await page.setViewportSize({ width: 1440, height: 900 });
  const lines = await needs(page).getByRole('listitem').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  expect(lines.length).toBeGreaterThan(1);
  expect(lines[1]).toBe(lines[0]);
  await page.setViewportSize({ width: 1280, height: 900 });
  await isSound(page, 'overview');
  await needs(page).getByText('API key “Laptop”').click();
  await expect(page.getByRole('region', { name: 'API keys' }).getByRole('listitem').filter({ hasText: 'Laptop' })).toBeVisible();
  // On a phone, the sums of the usage are blocks.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/settings/usage');
  const sums = page.getByRole('group', { name: /^Totals/ });
  await expect(sums.getByRole('row').nth(1).getByRole('cell').first()).toBeVisible();
  expect(await sums.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
});

test('deliveries that have waited for more than an hour are named, and lead to their list', async ({ home, page }) => {
  await home.rpc('channels.create', { type: 'http', id: 'nowhere', label: 'Nowhere', fields: { url: 'http://127.0.0.1:9/' } });
  await home.rpc('config.set', { key: 'webhooks.retry_base_ms', value: 600_000 });
  const forward = { source_profile: 'codehost_a', deliver_only: true, deliver_to: 'http:nowhere' };
  const hook = await makeWebhook(home, { name: 'House', ...forward });
  await deliver(home, hook, pullRequest(), { event: 'pull_request' });
  const line = needs(page).getByRole('link', { name: 'Deliveries have been waiting for more than an hour' });
  await page.goto('/overview');
  await expect(tile(page, 'In progress')).toHaveText(/^1/);
  await expect(needs(page).getByText('Loading…')).toHaveCount(0);
  await expect(line).toHaveCount(0);
  await page.clock.setFixedTime(Date.now() + 7_200_000);
  await page.reload();
  await line.click();
  await expect(page).toHaveURL(`${home.origin}/deliveries?status=received,queued`);
  await expect(page.locator('[data-id]')).toHaveCount(1);
});

test('deliveries that wait are searched once it is known which webhooks are paused', async ({ home, page }) => {
  const fields = { name: 'House', source_profile: 'codehost_a', deliver_only: true, deliver_to: 'inbox' };
  const hook = await makeWebhook(home, fields);
  await home.rpc('webhooks.update', { id: hook.id, paused: true });
  await deliver(home, hook, pullRequest(), { event: 'pull_request' });
  let searches = 0;
  page.on('request', (request) => {
    if (request.postData()?.includes('"statuses":["received","queued"],"until"')) searches += 1;
  });
  await useHttp(page);
  await page.clock.setFixedTime(Date.now() + 7_200_000);
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/api\/rpc$/, async (route) => {
    const { method } = route.request().postDataJSON() as { method: string };
    if (method === 'webhooks.list') await released;
    await route.continue();
  });
  await page.goto('/overview');
  await expect(tile(page, 'Received')).toHaveText(/^1/);
  expect(searches).toBe(0);
  release();
  await expect(needs(page).getByText('House is paused: its deliveries wait')).toBeVisible();
  await expect(needs(page).getByText('Deliveries have been waiting for more than an hour')).toHaveCount(0);
  expect(searches).toBe(1);
});

test('a sealed vault is named first, and leads to where it is unlocked', async ({ home, page }) => {
  await page.goto('/overview');
  await expect(needs(page).getByText('Nothing needs your attention right now.')).toBeVisible();
  await home.call('POST', '/api/auth/vault/seal');
  await needs(page).getByRole('link', { name: 'The vault is sealed: new deliveries are refused' }).click();
  await expect(page).toHaveURL(`${home.origin}/vault`);
});

test('a delivery whose key the model provider refused leads to the providers', async ({ home, page, model }) => {
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  model.next({ refuse: 401, message: 'Incorrect API key provided.' });
  const { body } = await deliver(home, hook, pullRequest(), { event: 'pull_request' });
  await page.goto(`/deliveries/${body.delivery_id}`);
  const detail = page.getByRole('region', { name: /Mend the gate/ });
  await expect(detail.getByText(/rejected the key/).first()).toBeVisible();
  await detail.getByRole('link', { name: 'Open providers' }).click();
  await expect(heading(page, 'Providers')).toBeVisible();
});

test('a rejected key is named until a request succeeds, and leads to the providers', async ({ home, page, model }) => {
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  model.next({ refuse: 401, message: 'Incorrect API key provided.' });
  await deliver(home, hook, pullRequest(), { event: 'pull_request' });
  const isRejected = async () => {
    const { providers } = await home.rpc<{ providers: { key_rejected?: boolean }[] }>('providers.list');
    return providers.some(({ key_rejected }) => key_rejected);
  };
  await expect.poll(isRejected).toBe(true);
  await page.goto('/overview');
  await needs(page).getByRole('link', { name: /rejected its API key$/ }).click();
  await expect(heading(page, 'Providers')).toBeVisible();
  // The page tests each key, and the model server accepts this one.
  await expect.poll(isRejected).toBe(false);
  await page.goto('/overview');
  await expect(needs(page).getByText(/Nothing needs your attention|delivery failed/)).toBeVisible();
  await expect(needs(page).getByRole('link', { name: /rejected its API key$/ })).toHaveCount(0);
});

test('a request without an event is called by its webhook', async ({ home, page }) => {
  const hook = await makeWebhook(home, { name: 'Shop', source_profile: 'generic' });
  await deliver(home, hook, { order: 7 }, { secret: 'not the secret', headers: { 'X-Event-Type': '' } });
  await page.goto('/deliveries');
  await page.getByRole('link', { name: /Request to Shop/ }).click();
  await expect(page.getByRole('heading', { name: 'Request to Shop' })).toBeVisible();
});

test.describe('without a model provider', () => {
  test.use({ environment: async ({}, use) => use({}) });

  test('the overview says so, and leads to the providers', async ({ home: _, page }) => {
    await page.goto('/overview');
    await needs(page).getByRole('link', { name: 'No model provider is set up: agents cannot answer' }).click();
    await expect(heading(page, 'Providers')).toBeVisible();
  });
});

test.describe('scheduled backups', () => {
  // The directory is a file, so that every backup fails.
  test.use({
    environment: async ({ model }, use) =>
      use({ ...model.environment, SERVICE_BACKUP__SCHEDULE: '* * * * * *', SERVICE_BACKUP__TO: '/dev/null' }),
  });

  test('a backup that failed is named, and leads to the reason', async ({ home, page }) => {
    const failed = async () => {
      const { checks } = await home.rpc<{ checks: { id: string; ok: boolean }[] }>('system.doctor');
      return checks.some(({ id, ok }) => id === 'backup' && !ok);
    };
    await expect.poll(failed, { timeout: 40_000 }).toBe(true);
    await page.goto('/chat');
    const banner = page.locator('.banner').filter({ hasText: /The backup of .+ failed/ });
    await expect(banner.getByRole('link', { name: 'Show the health checks' })).toHaveAttribute('href', '/settings/system');
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(banner.getByText('Show the health checks', { exact: true })).toBeInViewport({ ratio: 1 });
    await expect(banner.getByText('Hide', { exact: true })).toBeInViewport({ ratio: 1 });
    await page.setViewportSize({ width: 1280, height: 900 });
    await banner.getByRole('button', { name: 'Hide' }).click();
    await expect(banner).toBeHidden();
    await page.goto('/overview');
    await isLive(page);
    await expect(banner).toBeHidden();
    await needs(page).getByRole('link', { name: 'The last scheduled backup failed or did not run' }).click();
    const checks = page.getByRole('list', { name: 'Health checks' });
    await expect(checks.getByRole('listitem').filter({ hasText: /The backup of .+ failed/ })).toBeVisible();
  });
});

test('what could not be loaded is not reported as nothing', async ({ home: _, page, complaints }) => {
  complaints.allow(/status of 503/);
  let asked = 0;
  await page.route('**/api/auth/api-keys', (route) => {
    asked += 1;
    return route.fulfill({ status: 503, json: { code: 'INTERNAL', error: 'Down.' } });
  });
  await page.goto('/overview');
  // The page asks again when its connection is live.
  await isLive(page);
  await expect(needs(page).getByText('Part of this could not be loaded.')).toBeVisible({ timeout: 30_000 });
  await expect(needs(page).getByText('Nothing needs your attention right now.')).toHaveCount(0);
  // The page repeats failed requests, at most two seconds apart.
  const more = async () => {
    const before = asked;
    await page.waitForTimeout(3_000);
    return asked - before;
  };
  await expect.poll(more, { timeout: 40_000 }).toBe(0);
  await page.unroute('**/api/auth/api-keys');
  await needs(page).getByRole('button', { name: 'Try again' }).click();
  await expect(needs(page).getByText('Nothing needs your attention right now.')).toBeVisible();
});
