// Deliveries as sentences with their outcome, the parts of one delivery, and actions on many.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { isLive } from './fixtures/entering';
import { receiver } from './fixtures/receiver';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, PASSWORD, type Gateway } from './fixtures/test';
import { test } from './fixtures/with-model';

const rows = (page: Page) => page.locator('[data-id]');
const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
const toInbox = (gateway: Gateway, more: object = {}) =>
  makeWebhook(gateway, {
    name: 'House',
    source_profile: 'codehost_a',
    deliver_only: true,
    deliver_to: 'inbox',
    prompt_template: 'PR {pull_request.title}',
    ...more,
  });

test('a row says what happened and what the agent answered', async ({ home, page, model }) => {
  await home.rpc('agents.update', { id: 'default', name: 'Reviewer' });
  const reviews = await makeWebhook(home, { name: 'Reviews', source_profile: 'codehost_a' });
  const forward = await toInbox(home);
  model.next({ text: ['**Looks good**, one query too many.'] });
  await page.goto('/deliveries');
  await isLive(page);
  await deliver(home, reviews, pullRequest(42, 'Make the checkout faster'), { event: 'pull_request' });
  const row = rows(page).first();
  await expect(row).toContainText('Make the checkout faster');
  await expect(row).toContainText('#42');
  await expect(row).toContainText('Reviewer: Looks good, one query too many.');
  await deliver(home, forward, pullRequest(43, 'Paint it'), { event: 'pull_request' });
  await expect(rows(page).first()).toContainText('Inbox: PR Paint it');
  expect(await violations(page)).toEqual([]);

  // The conversation is named after it, and shows it as a card.
  await rows(page).filter({ hasText: '#42' }).click();
  await page.getByRole('link', { name: 'Open conversation' }).click();
  await expect(page.getByRole('heading', { level: 1, name: /Make the checkout faster/ })).toBeVisible();
  const card = page.getByRole('article', { name: 'Delivery' });
  await expect(card.getByRole('heading', { name: 'ada opened pull request #42: Make the checkout faster' })).toBeVisible();
  await expect(page.getByRole('article', { name: 'You' })).toHaveCount(0);
  expect(await violations(page)).toEqual([]);
  await card.getByRole('link', { name: 'Open delivery' }).click();
  await expect(page).toHaveURL(/\/deliveries\/del_/);
});

test('the prompt of a scheduled run is shown', async ({ home, page, model }) => {
  const schedule = { cron: '0 9 1 1 *', timezone: 'UTC' };
  const hook = await makeWebhook(home, { name: 'New year', source_profile: 'schedule', schedule });
  model.next({ text: ['Done.'] });
  const { delivery_id } = await home.rpc<{ delivery_id: string }>('webhooks.test', { id: hook.id });
  await page.goto(`/deliveries/${delivery_id}?tab=prompt`);
  await expect(page.getByRole('region', { name: 'Raw' })).toContainText('A scheduled run of "New year" is due.');
});

test('a delivery in parts: timeline, prompt, attempts, and the request as a command', async ({ home, page, model, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const hook = await makeWebhook(home, { name: 'Reviews', source_profile: 'codehost_a' });
  model.next({ text: ['Fine.'] });
  const { body } = await deliver(home, hook, pullRequest(7), { event: 'pull_request', id: 'd-7' });
  await page.goto(`/deliveries/${body.delivery_id}`);
  const steps = page.getByRole('list', { name: 'Timeline of the delivery' }).getByRole('listitem');
  await expect(steps).toContainText(['Received: done', 'Verified: done', 'Queued: done', 'Processed: done', 'Ended: done']);
  await tab(page, 'Prompt').click();
  await expect(page.getByRole('region', { name: 'Raw' })).toContainText(`Delivery: ${body.delivery_id}`);
  await tab(page, 'Prompt').press('ArrowLeft');
  await expect(tab(page, 'Attempts')).toBeFocused();
  await expect(page.getByRole('table').getByRole('row')).toHaveCount(2);
  await expect(page.getByRole('table')).toContainText('Completed');
  await page.reload();
  await expect(tab(page, 'Attempts')).toHaveAttribute('aria-selected', 'true');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('Command copied. It has no signature')).toBeVisible();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  expect(command).toMatch(new RegExp(`^curl -X POST 'http://[^/]+/api/webhooks/ingest/${hook.public_id}'`));
  expect(command).toContain('"title":"Mend the gate"');
  expect(command).not.toContain('signature');
});

test('a waiting delivery is attempted at once or given up, and its failed attempts are listed', async ({ home, page }) => {
  await home.rpc('channels.create', { type: 'http', id: 'nowhere', label: 'Nowhere', fields: { url: 'http://127.0.0.1:9/' } });
  await home.rpc('config.set', { key: 'webhooks.retry_base_ms', value: 600_000 });
  const hook = await toInbox(home, { deliver_to: 'http:nowhere' });
  const { body } = await deliver(home, hook, pullRequest(7), { event: 'pull_request' });
  await page.goto(`/deliveries/${body.delivery_id}?tab=attempts`);
  await isLive(page);
  const attempts = page.getByRole('table').getByRole('row');
  await expect(attempts).toHaveCount(2);
  await page.getByRole('button', { name: 'Retry now' }).click();
  await expect(attempts).toHaveCount(3);
  const giveUp = page.getByRole('button', { name: 'Give up', exact: true });
  await expect(giveUp).not.toHaveAttribute('aria-busy');
  await giveUp.press('Enter');
  await expect(page.getByText('Cancelled.').first()).toBeVisible();
  // The pressed button is gone.
  await expect(page.locator('#delivery-title')).toBeFocused();
  await expect(page.getByRole('button', { name: 'Replay', exact: true })).toBeVisible();
  await expect(attempts).toHaveCount(3);
});

test('several statuses and a period filter the list, and survive a reload', async ({ home, page }) => {
  const hook = await toInbox(home, { events: { deny: ['push'] } });
  await deliver(home, hook, pullRequest(1, 'Paint it'), { event: 'pull_request' });
  await deliver(home, hook, { ref: 'refs/heads/main' }, { event: 'push' });
  await deliver(home, hook, pullRequest(2), { event: 'pull_request', secret: 'not the secret' });
  await page.goto('/deliveries');
  await expect(rows(page)).toHaveCount(3);
  await page.getByRole('button', { name: /^Status/ }).click();
  await page.getByRole('checkbox', { name: 'Rejected' }).check();
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('checkbox', { name: 'Filtered' }).check();
  await expect(rows(page)).toHaveCount(2);
  await page.keyboard.press('Escape');
  await page.reload();
  await expect(page.getByRole('button', { name: /^Status/ })).toHaveText('Rejected, Filtered');
  await expect(rows(page)).toHaveCount(2);
  await page.getByLabel('Time', { exact: true }).selectOption('Last hour');
  await expect(rows(page)).toHaveCount(2);
  await page.getByLabel('Time', { exact: true }).selectOption('Choose a period');
  await page.getByLabel('From').fill('2020-01-02T00:00');
  await page.getByLabel('Until').fill('2020-01-01T00:00');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.getByText('Enter a time before the end.')).toBeVisible();
  await page.getByLabel('From').fill('2019-01-01T00:00');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.getByText('No matches')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await expect(rows(page)).toHaveCount(3);
});

test('the choice of a period keeps the focus', async ({ home, page }) => {
  await deliver(home, await toInbox(home), pullRequest(1), { event: 'pull_request' });
  await page.goto('/deliveries');
  const time = page.getByLabel('Time', { exact: true });
  const dialog = page.getByRole('dialog', { name: 'Choose a period' });
  await time.focus();
  await time.selectOption('Last hour');
  await expect(page).toHaveURL(/time=hour/);
  await expect(time).toBeFocused();

  // The field shows the period that applies until another one is entered.
  await time.selectOption('Choose a period');
  await expect(dialog.getByLabel('From')).toBeFocused();
  await expect(time).toHaveValue('hour');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(time).toBeFocused();
  await expect(time).toHaveValue('hour');

  await time.selectOption('Choose a period');
  await dialog.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveURL(/from=/);
  await expect(time).toBeFocused();
  await expect(time).toHaveValue('between');
  await time.selectOption('Choose a period');
  await expect(dialog.getByLabel('From')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(time).toHaveValue('between');
  await time.selectOption('Any time');
  await expect(page).toHaveURL(/\/deliveries$/);
  await expect(time).toBeFocused();
  await expect(time).toHaveValue('');
});

test('selected deliveries are replayed, and all that match after their count', async ({ home, page }) => {
  const hook = await toInbox(home);
  for (const number of [1, 2, 3]) await deliver(home, hook, pullRequest(number, `Title ${number}`), { event: 'pull_request' });
  await page.goto('/deliveries');
  await expect(rows(page).filter({ hasText: 'Completed' })).toHaveCount(3);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  const bulk = page.getByRole('group', { name: 'Bulk actions' });
  await expect(bulk.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.getByRole('checkbox', { name: /Title 1/ }).check();
  await page.getByRole('checkbox', { name: /Title 3/ }).check();
  await expect(page.getByText('2 selected')).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await bulk.getByRole('button', { name: 'Replay', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Replay deliveries' });
  await expect(dialog).toContainText('2 deliveries will run again');
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('2 deliveries queued again')).toBeVisible();
  await expect(rows(page).filter({ hasText: 'Completed' })).toHaveCount(5);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await bulk.getByRole('button', { name: 'Replay all that match' }).click();
  await expect(dialog).toContainText('5 deliveries will run again');
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await expect(rows(page).filter({ hasText: 'Completed' })).toHaveCount(10);
});

test('all that match a pattern, several statuses or a search are replayed after their count', async ({ home, page }) => {
  const hook = await toInbox(home, { events: { deny: ['push'] } });
  for (const number of [1, 2, 3]) await deliver(home, hook, pullRequest(number, `Title ${number}`), { event: 'pull_request' });
  await deliver(home, hook, { ref: 'refs/heads/main' }, { event: 'push' });
  await page.goto('/deliveries?event=pull*');
  await isLive(page);
  const done = rows(page).filter({ hasText: 'Completed' });
  await expect(done).toHaveCount(3);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  const all = page.getByRole('button', { name: 'Replay all that match' });
  const dialog = page.getByRole('dialog', { name: 'Replay deliveries' });
  const counts = async (text: string) => {
    await all.click();
    await expect(dialog).toContainText(text);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  };
  await counts('3 deliveries will run again');
  await page.getByLabel('Event type').fill('pus*');
  await expect(rows(page)).toHaveCount(1);
  await counts('No completed or failed delivery matches these filters.');

  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect(rows(page)).toHaveCount(4);
  await page.getByRole('button', { name: /^Status/ }).click();
  await page.getByRole('checkbox', { name: 'Filtered', exact: true }).check();
  await expect(rows(page)).toHaveCount(1);
  await expect(all).toHaveCount(0);
  await page.getByRole('checkbox', { name: 'Completed', exact: true }).check();
  await page.keyboard.press('Escape');
  await expect(rows(page)).toHaveCount(4);
  await counts('3 deliveries will run again');

  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await page.getByLabel('Search', { exact: true }).fill('title 2');
  await expect(rows(page)).toHaveCount(1);
  await all.click();
  await expect(dialog).toContainText('1 delivery will run again');
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('1 delivery queued again')).toBeVisible();
  await expect(done).toHaveCount(2);
});

test('deliveries that wait after an outage are selected together, attempted now or given up', async ({ home, page }) => {
  const there = await receiver();
  await home.rpc('channels.create', { type: 'http', id: 'ops', label: 'Ops', fields: { url: there.url } });
  await home.rpc('config.set', { key: 'webhooks.retry_base_ms', value: 600_000 });
  const hook = await toInbox(home, { deliver_to: 'http:ops' });
  await deliver(home, hook, pullRequest(1, 'Done before'), { event: 'pull_request' });
  const fail = async (...numbers: number[]) => {
    there.answer.status = 503;
    for (const number of numbers) await deliver(home, hook, pullRequest(number, `Waits ${number}`), { event: 'pull_request' });
    const attempted = async () => {
      const { deliveries } = await home.rpc<{ deliveries: { attempts: number }[] }>('webhooks.deliveries', { status: 'queued' });
      return deliveries.map(({ attempts }) => attempts);
    };
    await expect.poll(attempted).toEqual(numbers.map(() => 1));
  };
  const bulk = page.getByRole('group', { name: 'Bulk actions' });
  const button = (name: string) => bulk.getByRole('button', { name, exact: true });
  const said = (text: string) => page.getByRole('region', { name: 'Notifications' }).getByText(text);
  const row = (title: string) => rows(page).filter({ hasText: title });
  await page.goto('/deliveries');
  await isLive(page);
  await expect(row('Done before')).toContainText('Completed');
  await fail(2, 3, 4);
  await expect(rows(page).filter({ hasText: 'Queued' })).toHaveCount(3);
  await button('Select').click();
  await page.getByRole('checkbox', { name: /Done before/ }).check();
  await expect(button('Replay')).toBeEnabled();
  await expect(button('Retry now')).toHaveCount(0);
  await page.getByRole('checkbox', { name: /Done before/ }).uncheck();
  await button('Select all waiting').click();
  await expect(page.getByText('3 selected')).toBeVisible();
  await expect(button('Replay')).toBeDisabled();
  expect(await violations(page)).toEqual([]);

  there.answer.status = 200;
  await button('Retry now').click();
  const retry = page.getByRole('dialog', { name: 'Retry waiting deliveries' });
  await expect(retry).toContainText('3 waiting deliveries are attempted now');
  await retry.getByRole('button', { name: 'Retry now' }).click();
  await expect(said('3 deliveries are attempted now')).toBeVisible();
  await expect(rows(page).filter({ hasText: 'Completed' })).toHaveCount(4);
  await button('Select').click();
  await button('Select all waiting').click();
  await expect(said('No waiting delivery matches these filters.')).toBeVisible();

  await fail(5, 6, 7);
  await expect(rows(page).filter({ hasText: 'Queued' })).toHaveCount(3);
  await button('Select all waiting').click();
  await page.getByRole('checkbox', { name: /Waits 6/ }).uncheck();
  await button('Give up').click();
  const give = page.getByRole('dialog', { name: 'Give up deliveries' });
  await expect(give).toContainText('2 deliveries end as failed');
  // One that ends before is not counted.
  await home.rpc('webhooks.delivery.cancel', { id: await row('Waits 5').getAttribute('data-id') });
  await give.getByRole('button', { name: 'Give up' }).click();
  await expect(said('1 delivery given up')).toBeVisible();
  await expect(row('Waits 5')).toContainText('Failed');
  await expect(row('Waits 7')).toContainText('Failed');
  await expect(row('Waits 6')).toContainText('Queued');
  await there.close();
});

test('a replay of more deliveries than one call runs says which part it means', async ({ home, page }) => {
  await deliver(home, await toInbox(home), pullRequest(1), { event: 'pull_request' });
  await page.routeWebSocket(/\/ws\/chat$/, (line) => {
    const gateway = line.connectToServer();
    let asked: unknown;
    line.onMessage((text) => {
      const { id, method } = JSON.parse(String(text)) as { id?: unknown; method?: string };
      if (method === 'webhooks.deliveries.replay') asked = id;
      gateway.send(text);
    });
    gateway.onMessage((text) => {
      const answer = JSON.parse(String(text)) as { id?: unknown; result?: { matched?: number } };
      if (asked !== undefined && answer.id === asked && answer.result) answer.result.matched = 25_000;
      line.send(JSON.stringify(answer));
    });
  });
  await page.goto('/deliveries');
  await isLive(page);
  await expect(rows(page).filter({ hasText: 'Completed' })).toHaveCount(1);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByRole('button', { name: 'Replay all that match' }).click();
  await expect(page.getByRole('dialog', { name: 'Replay deliveries' })).toContainText(
    '25,000 deliveries match. The oldest 10,000 of them will run again',
  );
});

test('deliveries that a restored backup holds are named, shown and released', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await home.rpc('channels.create', { type: 'http', id: 'nowhere', label: 'Nowhere', fields: { url: 'http://127.0.0.1:9/' } });
  await home.rpc('config.set', { key: 'webhooks.retry_base_ms', value: 600_000 });
  const waits = await toInbox(home, { deliver_to: 'http:nowhere', prompt_template: '{action}' });
  const ends = await toInbox(home, { name: 'Done' });
  await deliver(home, ends, pullRequest(1, 'Done before'), { event: 'pull_request' });
  for (const number of [2, 3]) await deliver(home, waits, pullRequest(number, `Waits ${number}`), { event: 'pull_request' });
  await page.goto('/deliveries');
  await expect(rows(page).filter({ hasText: 'Completed' })).toHaveCount(1);
  await home.restoreBackup();
  await home.call('POST', '/api/auth/login', { password: PASSWORD });

  await page.goto('/settings/system');
  const check = page.getByRole('list', { name: 'Health checks' }).getByRole('listitem').filter({ hasText: 'Held deliveries' });
  await expect(check.getByRole('link', { name: 'Show held deliveries' })).toHaveAttribute('href', '/deliveries?restored=1');
  await page.goto('/overview');
  const needs = page.getByRole('list', { name: 'Needs attention' });
  await needs.getByRole('link', { name: '2 deliveries of a restored backup are held' }).click();
  await expect(page).toHaveURL(`${home.origin}/deliveries?restored=1`);
  await expect(rows(page)).toHaveCount(2);
  await expect(page.getByText('2 deliveries of a restored backup are held.')).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Show all deliveries' }).click();
  await expect(rows(page)).toHaveCount(3);
  await expect(page.getByText('2 deliveries of a restored backup are held.')).toBeVisible();
  await page.getByRole('button', { name: 'Show held deliveries' }).click();
  await expect(rows(page)).toHaveCount(2);

  // An attempt of held ones says what it may repeat.
  const bulk = page.getByRole('group', { name: 'Bulk actions' });
  await bulk.getByRole('button', { name: 'Select', exact: true }).click();
  await bulk.getByRole('button', { name: 'Select all waiting' }).click();
  await bulk.getByRole('button', { name: 'Retry now' }).click();
  const retry = page.getByRole('dialog', { name: 'Retry waiting deliveries' });
  await expect(retry).toContainText('2 of them are held, from a restored backup.');
  await retry.getByRole('button', { name: 'Cancel' }).click();
  await bulk.getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('button', { name: 'Release all' }).click();
  const dialog = page.getByRole('dialog', { name: 'Release held deliveries' });
  await expect(dialog).toContainText('2 deliveries will be processed.');
  await expect(dialog).toContainText('run a second time');
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(rows(page)).toHaveCount(2);
  await page.getByRole('button', { name: 'Release all' }).click();
  await dialog.getByRole('button', { name: 'Release all' }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('2 deliveries released')).toBeVisible();
  await expect(page).toHaveURL(`${home.origin}/deliveries`);
  await expect(rows(page)).toHaveCount(3);
  await expect(page.getByText('of a restored backup are held')).toHaveCount(0);
  // The notice and its dialog are gone, and the focus is not lost.
  await expect(page.getByRole('heading', { level: 1, name: 'Deliveries' })).toBeFocused();
  const attempted = async () => {
    const { deliveries } = await home.rpc<{ deliveries: { error?: string }[] }>('webhooks.deliveries', { status: 'queued' });
    return deliveries.filter(({ error }) => error && !error.startsWith('Restored from a backup')).length;
  };
  await expect.poll(attempted).toBe(2);
});
