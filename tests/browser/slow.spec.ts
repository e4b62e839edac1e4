// A slow connection: pages say that they load, nothing moves when the answers come, and a second click does not act twice.
import { hold } from './fixtures/hold';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { dialog, section } from './fixtures/security';
import { expect } from './fixtures/test';
import { test } from './fixtures/with-model';

/** What Lighthouse and the Web Vitals call good. */
const MOST_SHIFT = 0.1;

test('pages say that they load, and what comes late moves nothing', async ({ home, page }) => {
  test.setTimeout(180_000);
  await page.routeWebSocket(/\/ws\/chat$/, () => undefined);
  await page.addInitScript(() => {
    const shifts: { value: number; of: string }[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput, sources } = entry as never as {
          value: number;
          hadRecentInput: boolean;
          sources: { node: Element | null }[];
        };
        const of = sources.map(({ node }) => node?.outerHTML?.slice(0, 90) ?? '?').join(' | ');
        if (!hadRecentInput) shifts.push({ value, of });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a', deliver_only: true, deliver_to: 'inbox', prompt_template: 'PR {number}' });
  for (let at = 1; at <= 12; at++) await deliver(home, hook, pullRequest(at), { event: 'pull_request' });
  const phone = ['/overview', '/chat', '/deliveries', '/inbox', '/webhooks', '/agents', '/vault/stored', '/settings/providers'];
  for (const [path, width] of [...phone.map((one) => [one, 390] as const), ['/overview', 1440], ['/deliveries', 2560]] as const) {
    await test.step(`${path} at ${width}`, async () => {
      await page.setViewportSize({ width, height: 900 });
      const release = await hold(page);
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible();
      // The chat can be typed into at once.
      if (path === '/chat') await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toBeVisible();
      else await expect(page.getByRole('main').getByText('Loading…').first()).toBeAttached();
      await release();
      await expect(page.getByText('Loading…')).toHaveCount(0);
      // The browser reports a shift after the next paint.
      await page.evaluate(async () => {
        for (let frame = 0; frame < 3; frame++) await new Promise((done) => requestAnimationFrame(done));
        await new Promise((done) => requestIdleCallback(done));
      });
      const shifts = await page.evaluate(() => (window as never as { shifts: { value: number; of: string }[] }).shifts);
      const sum = shifts.reduce((all, { value }) => all + value, 0);
      expect(sum, JSON.stringify(shifts)).toBeLessThan(MOST_SHIFT);
    });
  }
});

test('a second click while the first is answered acts once', async ({ home, page }) => {
  await page.routeWebSocket(/\/ws\/chat$/, () => undefined);
  const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a', deliver_only: true, deliver_to: 'inbox', prompt_template: 'PR {number}' });
  const { body } = await deliver(home, hook, pullRequest(1), { event: 'pull_request' });

  await page.goto('/agents?new');
  await page.getByLabel('Name', { exact: true }).fill('Steward');
  let release = await hold(page);
  await page.getByRole('button', { name: 'Add agent' }).dblclick();
  expect(await release('agents.create')).toBe(1);
  await expect.poll(async () => (await home.rpc<{ agents: { name: string }[] }>('agents.list')).agents.filter(({ name }) => name === 'Steward')).toHaveLength(1);
  await expect(page.getByRole('heading', { level: 1, name: 'Steward' })).toBeVisible();
  expect((await home.rpc<{ agents: unknown[] }>('agents.list')).agents).toHaveLength(2);

  await page.goto('/webhooks/new');
  await page.getByRole('button', { name: /^GitHub/ }).click();
  release = await hold(page);
  await page.getByRole('button', { name: 'Create webhook' }).dblclick();
  expect(await release('webhooks.create')).toBe(1);
  await expect(page.getByRole('heading', { name: 'The webhook is ready' })).toBeVisible();
  expect((await home.rpc<{ webhooks: unknown[] }>('webhooks.list')).webhooks).toHaveLength(2);
  await page.getByLabel('I’ve saved it').check();

  await page.goto(`/deliveries/${body.delivery_id}`);
  await expect(page.getByText('Sent to Inbox in').first()).toBeVisible();
  release = await hold(page);
  await page.getByRole('button', { name: 'Replay', exact: true }).dblclick();
  expect(await release('webhooks.delivery.replay')).toBe(1);
  await expect(page.getByText('Replayed. This is the new delivery.').first()).toBeVisible();
  expect((await home.rpc<{ deliveries: unknown[] }>('webhooks.deliveries')).deliveries).toHaveLength(2);

  await page.goto('/settings/security/access');
  await section(page, 'API keys').getByRole('button', { name: 'Create an API key' }).click();
  await dialog(page).getByLabel('Label').fill('script');
  release = await hold(page, /\/api\/auth\/api-keys$/);
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).dblclick();
  expect(await release('POST')).toBe(1);
  await expect(dialog(page).getByText(/^mk_/)).toBeVisible();
  const { api_keys } = await home.call<{ api_keys: unknown[] }>('GET', '/api/auth/api-keys');
  expect(api_keys).toHaveLength(1);
  await dialog(page).getByLabel('I’ve saved it').check();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
});
