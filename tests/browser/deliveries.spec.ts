// Deliveries: live updates, search, details, replay, keyboard use, and long lists.
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { deliver, deliverMany, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, PASSWORD, test, type Gateway } from './fixtures/test';
import type { Page } from '@playwright/test';

const rows = (page: Page) => page.locator('[data-id]');
const live = (page: Page) => expect(page.getByText('Live', { exact: true })).toBeVisible();

/** A webhook that accepts code host events and forwards them to the inbox; needs no model. */
const toInbox = (gateway: Gateway, more: object = {}) =>
  makeWebhook(gateway, {
    name: 'House',
    source_profile: 'codehost_a',
    deliver_only: true,
    deliver_to: 'inbox',
    prompt_template: 'PR {pull_request.title}',
    ...more,
  });

test('the empty state explains webhooks and sends a first test delivery with one click', async ({ home, page }) => {
  await page.goto('/deliveries');
  await expect(page.getByText('No webhooks yet')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Create a webhook' })).toHaveAttribute('href', '/webhooks/new');
  await toInbox(home);
  await page.reload();
  await page.getByRole('button', { name: 'Send a test to House' }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).getByText('pull_request.opened')).toBeVisible();
});

test('a signed request appears live, can be opened, read and replayed', async ({ home, page }) => {
  const webhook = await toInbox(home);
  await page.goto('/deliveries');
  await expect(page.getByText('No deliveries yet')).toBeVisible();
  await live(page);

  const { status } = await deliver(home, webhook, pullRequest(7), { event: 'pull_request', id: 'd-1' });
  expect(status).toBe(202);
  const row = rows(page).filter({ hasText: 'pull_request.opened' });
  await expect(row).toBeVisible();
  await expect(row.getByText('Completed')).toBeVisible();
  await expect(page.getByText('1 delivery', { exact: true })).toBeVisible();

  await row.click();
  const detail = page.getByRole('region', { name: /Mend the gate/ });
  await expect(detail.getByText('Sent to Inbox in')).toBeVisible();
  await expect(detail.getByRole('link', { name: 'House' })).toHaveAttribute('href', `/webhooks/${webhook.id}`);
  await detail.getByRole('tab', { name: 'Headers' }).click();
  await expect(detail.getByRole('row', { name: 'x-github-event pull_request' })).toBeVisible();
  await expect(detail.getByRole('row', { name: 'x-github-delivery d-1' })).toBeVisible();
  await expect(detail.getByText('x-hub-signature-256')).toHaveCount(0);
  await detail.getByRole('tab', { name: 'Payload' }).click();
  await expect(detail.getByRole('treeitem', { name: 'title: "Mend the gate"' })).toBeVisible();

  // Byte for byte the same.
  await detail.getByRole('button', { name: 'Raw' }).click();
  await expect(detail.locator('pre')).toHaveText(JSON.stringify(pullRequest(7)));
  await detail.getByRole('tab', { name: 'Summary' }).click();

  const first = new URL(page.url()).pathname;
  await detail.getByRole('button', { name: 'Replay' }).click();
  await expect(page).not.toHaveURL(new RegExp(first));
  await expect(detail.getByRole('link', { name: 'Original delivery' })).toHaveAttribute('href', first);
  await expect(detail.getByText('Completed').first()).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  await detail.getByRole('button', { name: 'Older delivery' }).click();
  await expect(page).toHaveURL(`${home.origin}${first}`);
  await detail.getByRole('button', { name: 'Close' }).click();
  await expect(rows(page).nth(1)).toBeFocused();
});

test('the payload: expand, search, copy; long lists; numbers as sent; non-JSON', async ({ home, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const webhook = await makeWebhook(home, { name: 'Any', source_profile: 'generic', deliver_only: true, deliver_to: 'inbox', prompt_template: 'x', max_body_bytes: 4_000_000 });
  const list = Array.from({ length: 9_000 }, (_, at) => ({ at, name: `part ${at}`, text: 'x'.repeat(80) }));
  const body = JSON.stringify({ id: 0, list }).replace('"id":0', '"id":12345678901234567890');
  expect(body.length).toBeGreaterThan(1_000_000);
  const { body: answer } = await deliver(home, webhook, body);
  await page.goto(`/deliveries/${answer.delivery_id}?tab=payload`);
  const tree = page.getByRole('tree');
  await expect(tree.getByRole('treeitem', { name: 'id: 12345678901234567890' })).toBeVisible();
  await page.getByPlaceholder('Search in the payload').fill('part 8765');
  await expect(page.getByText('1 of 1', { exact: true })).toBeVisible();
  await expect(tree.getByRole('treeitem', { name: 'name: "part 8765"' })).toBeVisible();
  expect(await tree.getByRole('treeitem').count()).toBeLessThan(400);
  await page.getByRole('button', { name: 'Copy path' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('list.8765.name');
  await page.getByRole('button', { name: 'Copy value' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('part 8765');
  // By keyboard: move to the parent and collapse it.
  await tree.getByRole('treeitem', { selected: true }).focus();
  await page.keyboard.press('ArrowLeft');
  await expect(tree.getByRole('treeitem', { selected: true })).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('ArrowLeft');
  await expect(tree.getByRole('treeitem', { selected: true })).toHaveAttribute('aria-expanded', 'false');
  await expect(tree.getByRole('treeitem', { name: 'name: "part 8765"' })).toHaveCount(0);
  expect(await violations(page)).toEqual([]);
});

test('filters and search are in the URL and survive a reload', async ({ home, page }) => {
  const house = await toInbox(home, { events: { deny: ['push'] } });
  const bell = await makeWebhook(home, { name: 'Bell', source_profile: 'generic', deliver_only: true, deliver_to: 'inbox', prompt_template: 'x' });
  await deliver(home, house, pullRequest(1, 'Paint it'), { event: 'pull_request' });
  await deliver(home, house, { ref: 'refs/heads/main' }, { event: 'push' });
  await deliver(home, bell, { ring: 'front' }, { event: 'ring' });
  await page.goto('/deliveries');
  await expect(rows(page)).toHaveCount(3);

  await page.getByLabel('Search', { exact: true }).fill('paint IT');
  await expect(rows(page)).toHaveCount(1);
  await expect(page).toHaveURL(/q=paint\+IT/);
  await page.reload();
  await expect(page.getByLabel('Search', { exact: true })).toHaveValue('paint IT');
  await expect(rows(page)).toHaveCount(1);
  await page.getByLabel('Search', { exact: true }).fill('no such thing');
  await expect(page.getByText('No matches')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await expect(rows(page)).toHaveCount(3);

  await page.getByRole('button', { name: 'Status' }).click();
  await page.getByRole('checkbox', { name: 'Filtered' }).check();
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('checkbox', { name: 'Filtered' }).uncheck();
  await page.keyboard.press('Escape');
  await page.getByLabel('Event type').fill('ring');
  await expect(rows(page)).toHaveCount(1);
  await page.getByLabel('Webhook').selectOption('House');
  await expect(page.getByText('No matches')).toBeVisible();
  await page.getByLabel('Event type').fill('');
  await expect(rows(page)).toHaveCount(2);
  // New deliveries appear only if they match the filters.
  await live(page);
  await deliver(home, bell, { ring: 'back' }, { event: 'ring' });
  await deliver(home, house, pullRequest(2), { event: 'pull_request' });
  await expect(rows(page)).toHaveCount(3);
  await page.reload();
  await expect(rows(page)).toHaveCount(3);
  await rows(page).first().click();
  await expect(page).toHaveURL(new RegExp(`/deliveries/del_\\w+\\?webhook=${house.id}`));
});

test('beside an open delivery the filters fold, and its row stays in sight', async ({ home, page }) => {
  const webhook = await toInbox(home);
  for (let number = 1; number <= 8; number++) await deliver(home, webhook, pullRequest(number), { event: 'pull_request' });
  await page.goto('/deliveries');
  await expect(rows(page)).toHaveCount(8);
  await expect(page.getByLabel('Event type')).toBeVisible();
  const row = rows(page).nth(3);
  await row.click();
  await expect(page.getByRole('tab', { name: 'Payload' })).toBeVisible();
  await expect(row).toBeInViewport();
  await expect(page.getByLabel('Event type')).toHaveCount(0);
  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  await expect(page.getByLabel('Event type')).toBeVisible();
});

test('a wrong signature is shown as rejected, with the reason', async ({ home, page }) => {
  const webhook = await toInbox(home);
  await page.goto('/deliveries');
  await live(page);
  const { status } = await deliver(home, webhook, pullRequest(), { event: 'pull_request', secret: 'not this one' });
  expect(status).toBe(401);
  await rows(page).filter({ hasText: 'Rejected' }).click();
  await expect(page.getByText('The signature does not match.').last()).toBeVisible();
  await page.getByRole('tab', { name: 'Payload' }).click();
  await expect(page.getByText('Only a preview of this payload was stored.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Replay' })).toHaveCount(0);
});

const withModel = test.extend<{ model: ModelServer }>({
  model: async ({}, use) => {
    const model = await ModelServer.start();
    await use(model);
    await model.close();
  },
  environment: async ({ model }, use) => use(model.environment),
});

withModel('an agent works on a delivery: each step is live, with a link to the conversation', async ({ home, page, model }) => {
  const webhook = await makeWebhook(home, { name: 'Reviews', source_profile: 'codehost_a' });
  model.next({ text: ['Looks ', 'good.'], hold: true });
  await page.goto('/deliveries');
  await live(page);
  await deliver(home, webhook, pullRequest(), { event: 'pull_request' });
  await expect(rows(page).getByText('Processing')).toBeVisible();
  await rows(page).click();
  await expect(page.getByText('In progress.')).toBeVisible();
  await expect.poll(() => model.asked.length).toBe(1);
  model.go();
  await expect(page.getByText('Answered by an agent in')).toBeVisible();
  await expect(rows(page).getByText('Completed')).toBeVisible();
  await expect(page.getByText('12 in, 7 out')).toBeVisible();
  const link = page.getByRole('link', { name: 'Open conversation' });
  const { sessions } = await home.rpc<{ sessions: { id: string }[] }>('sessions.list', {});
  await expect(link).toHaveAttribute('href', `/chat/${sessions[0]?.id}`);
});

test('the gateway is killed during processing: accepted deliveries survive, and the list is live again', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  const webhook = await toInbox(home);
  await page.goto('/deliveries');
  await live(page);
  await deliver(home, webhook, pullRequest(1), { event: 'pull_request' });
  await expect(rows(page)).toHaveCount(1);
  await home.stop('SIGKILL');
  await expect(page.getByText('Connection lost: this list is not live.')).toBeVisible();
  await home.run();
  await home.call('POST', '/api/auth/vault/unlock', { password: PASSWORD });
  await expect(page.getByText('Not live')).toHaveCount(0);
  await live(page);
  await expect(rows(page)).toHaveCount(1);
  await deliver(home, webhook, pullRequest(2), { event: 'pull_request' });
  await expect(rows(page)).toHaveCount(2);
  await expect(rows(page).first().getByText('Completed')).toBeVisible();
});

test('deleting a webhook deletes its deliveries', async ({ home, page }) => {
  const webhook = await toInbox(home);
  const { body } = await deliver(home, webhook, pullRequest(1), { event: 'pull_request' });
  await home.rpc('webhooks.delete', { id: webhook.id });
  await page.goto(`/deliveries/${body.delivery_id}`);
  await expect(page.getByText('Delivery not found')).toBeVisible();
});

test('keyboard-only use: move along the rows, open one, go back', async ({ home, page }) => {
  const webhook = await toInbox(home);
  for (const number of [1, 2, 3]) await deliver(home, webhook, pullRequest(number), { event: 'pull_request' });
  await page.goto('/deliveries');
  await expect(rows(page)).toHaveCount(3);
  await page.getByRole('button', { name: 'Select', exact: true }).focus();
  await page.keyboard.press('Tab');
  await expect(rows(page).first()).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(rows(page).nth(2)).toBeFocused();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: /Mend the gate/ })).toBeVisible();
  await expect(rows(page).nth(1)).toHaveAttribute('aria-current', 'true');
  await expect(rows(page).nth(1)).toBeFocused();
  // A new delivery does not move the focus.
  const id = await rows(page).nth(1).getAttribute('data-id');
  await deliver(home, webhook, pullRequest(4), { event: 'pull_request' });
  await expect(rows(page)).toHaveCount(4);
  await expect(page.locator(`[data-id="${id}"]`)).toBeFocused();
  // The chart can be read by keyboard. If the hour has changed since the first delivery, they are in two bars.
  const reading = page.getByRole('slider', { name: 'Chart position' });
  await reading.focus();
  const completed = async () => {
    let sum = 0;
    for (const key of ['End', 'ArrowLeft']) {
      await reading.press(key);
      const text = await reading.getAttribute('aria-valuetext');
      sum += Number(/(\d+) completed/.exec(text ?? '')?.[1] ?? 0);
    }
    return sum;
  };
  await expect.poll(completed).toBe(4);
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByText(': no deliveries').first()).toBeVisible();
});

test('no accessibility violation in either theme and no horizontal scroll', async ({ home, page }) => {
  // Twelve pages, each searched by axe.
  test.slow();
  const webhook = await toInbox(home, { events: { deny: ['push'] } });
  await deliver(home, webhook, pullRequest(1, 'A'.repeat(300)), { event: 'pull_request' });
  await deliver(home, webhook, { ref: 'main' }, { event: 'push' });
  await deliver(home, webhook, pullRequest(2), { event: 'pull_request', secret: 'wrong' });
  const { body } = await deliver(home, webhook, pullRequest(3), { event: 'pull_request' });
  for (const width of [320, 1280, 2560]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of ['/deliveries', '/deliveries?q=zzz', `/deliveries/${body.delivery_id}`, `/deliveries/${body.delivery_id}?tab=payload`]) {
      await page.goto(path);
      await live(page);
      if (path.includes('?q=')) await expect(page.getByText('No matches')).toBeVisible();
      else if (path.endsWith('deliveries')) await expect(rows(page)).toHaveCount(4);
      else if (path.includes('tab=')) await expect(page.getByRole('treeitem').first()).toBeVisible();
      else await expect(page.getByRole('list', { name: 'Timeline of the delivery' })).toBeVisible();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violations(page), `${path} at ${width}, ${colorScheme}`).toEqual([]);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(wide, `${path} at ${width}, ${colorScheme}`).toBeLessThanOrEqual(0);
      }
    }
  }
});

test.describe('many', () => {
  test.use({ environment: { SERVICE_WEBHOOKS__GLOBAL_RATE_LIMIT_PER_MINUTE: '100000' } });

  test('with thousands of rows the DOM stays small and the scroll position is stable', async ({ home, page }) => {
    const webhook = await makeWebhook(home, {
      name: 'Busy',
      source_profile: 'generic',
      deliver_only: true,
      deliver_to: 'log',
      prompt_template: '{at}',
      rate_limit_per_minute: 100_000,
    });
    await deliverMany(3_000, (at) => deliver(home, webhook, { at }, { event: 'tick' }));
    await page.goto('/deliveries');
    await live(page);
    await rows(page).first().focus();
    expect(await rows(page).count()).toBeLessThan(100);
    await expect(async () => {
      await page.keyboard.press('End');
      await expect(page.getByText('End of list')).toBeVisible({ timeout: 2_000 });
    }).toPass({ timeout: 60_000 });
    expect(await rows(page).count()).toBeLessThan(100);
    // In the middle of the list, a new delivery is announced instead of inserted.
    const before = await page.evaluate(() => document.activeElement?.getBoundingClientRect().top);
    await deliver(home, webhook, { at: -1 }, { event: 'tick' });
    const call = page.getByRole('button', { name: '1 new delivery' });
    await expect(call).toBeVisible();
    expect(await page.evaluate(() => document.activeElement?.getBoundingClientRect().top)).toBe(before);
    await call.click();
    await expect(rows(page).first()).toBeFocused();
    await expect(rows(page).first()).toBeInViewport();
    expect(await rows(page).count()).toBeLessThan(100);
  });
});
