// Deliveries, with a gateway that is killed during a replay: the replay happens once or not at all, and the page reports it.
import type { Page } from '@playwright/test';
import { killBeforeTheAnswer } from './fixtures/downtime';
import { isLive } from './fixtures/entering';
import { notification } from './fixtures/security';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, PASSWORD, test, type Gateway } from './fixtures/test';

const rows = (page: Page) => page.locator('[data-id]');
const detail = (page: Page) => page.getByRole('region', { name: /Mend the gate/ });
const replay = (page: Page) => detail(page).getByRole('button', { name: 'Replay' });

/** Creates one delivery and opens it. Returns its path. */
async function opened(home: Gateway, page: Page): Promise<string> {
  const webhook = await makeWebhook(home, {
    name: 'House',
    source_profile: 'codehost_a',
    deliver_only: true,
    deliver_to: 'inbox',
    prompt_template: 'PR {pull_request.title}',
  });
  const { body } = await deliver(home, webhook, pullRequest(7), { event: 'pull_request', id: 'd-1' });
  await page.goto(`/deliveries/${body.delivery_id}`);
  await isLive(page);
  await expect(detail(page).getByText('Completed').first()).toBeVisible();
  return new URL(page.url()).pathname;
}

/** Number of messages that the original delivery and its replays sent. */
async function sent(home: Gateway): Promise<number> {
  await home.call('POST', '/api/auth/vault/unlock', { password: PASSWORD });
  return (await home.rpc<{ messages: unknown[] }>('inbox.list')).messages.length;
}

test.beforeEach(({ complaints }) => complaints.allowDowntime());

test('replay while the gateway is down: reported, still shown, and done once when it is back', async ({ home, page }) => {
  const first = await opened(home, page);
  await detail(page).getByRole('tab', { name: 'Payload' }).click();
  await expect(detail(page).getByRole('treeitem', { name: 'title: "Mend the gate"' })).toBeVisible();
  await home.stop('SIGKILL');
  await expect(page.getByText('Connection lost: this list is not live.')).toBeVisible();
  await replay(page).click();
  await expect(notification(page, 'The gateway is not responding.')).toBeVisible();
  // The delivery stays readable.
  await expect(page).toHaveURL(`${home.origin}${first}?tab=payload`);
  await expect(detail(page).getByRole('treeitem', { name: 'title: "Mend the gate"' })).toBeVisible();
  await home.run();
  await isLive(page);
  await expect(rows(page)).toHaveCount(1);
  await detail(page).getByRole('tab', { name: 'Summary' }).click();
  await replay(page).click();
  await expect(page).not.toHaveURL(new RegExp(first));
  await expect(detail(page).getByRole('link', { name: 'Original delivery' })).toHaveAttribute('href', first);
  await expect(detail(page).getByText('Completed').first()).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  expect(await sent(home)).toBe(2);
  // Another restart loses nothing, and deliveries stay readable while the vault is sealed.
  await home.restart('SIGKILL');
  await page.reload();
  await expect(page.getByText('The vault is sealed.', { exact: false }).first()).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  await expect(detail(page).getByRole('link', { name: 'Original delivery' })).toHaveAttribute('href', first);
});

test('replay with a lost response: the page says that it may be done, and shows it when the gateway is back', async ({
  home,
  page,
}) => {
  const { killed } = await killBeforeTheAnswer(page, home, 'webhooks.delivery.replay');
  const first = await opened(home, page);
  await replay(page).click();
  await killed;
  await expect(notification(page, 'may or may not have been carried out')).toBeVisible();
  await expect(page).toHaveURL(`${home.origin}${first}`);
  await home.run();
  await isLive(page);
  // The gateway had accepted the replay and finishes it after the restart; the list shows it once, without a reload.
  await expect(rows(page)).toHaveCount(2);
  await expect(rows(page).first().getByText('Completed')).toBeVisible();
  await rows(page).first().click();
  await expect(detail(page).getByRole('link', { name: 'Original delivery' })).toHaveAttribute('href', first);
  await expect(rows(page)).toHaveCount(2);
});

test('a delivery has its style although the style sheet did not load at first', async ({ home, page, complaints }) => {
  complaints.allow(/ERR_FAILED/);
  await opened(home, page);
  const sheet = /\/assets\/Detail-[^/]*\.css$/;
  await page.route(sheet, (route) => route.abort());
  const failed = page.waitForEvent('requestfailed', (request) => sheet.test(request.url()));
  await page.goto('/deliveries');
  await isLive(page);
  await failed;
  await page.unroute(sheet);
  // A script that is cut off by the stop cannot be loaded again; the next test is about that.
  await page.waitForLoadState('networkidle');

  await home.stop();
  await expect(page.getByText('Live', { exact: true })).toHaveCount(0);
  await home.run();
  await isLive(page);
  await rows(page).click();
  await expect(detail(page)).toBeVisible();
  const sheets = await page.evaluate(() => [...document.styleSheets].map((one) => one.href ?? ''));
  expect(sheets.filter((href) => sheet.test(href))).toHaveLength(1);
});

test('a delivery whose script did not load says so, and a reload shows it', async ({ home, page, complaints }) => {
  complaints.allow(/ERR_FAILED/);
  await opened(home, page);
  const script = /\/assets\/Detail-[^/]*\.js$/;
  await page.route(script, (route) => route.abort());
  const failed = page.waitForEvent('requestfailed', (request) => script.test(request.url()));
  await page.goto('/deliveries');
  await isLive(page);
  await failed;
  await rows(page).click();
  // Chromium 156 requests the script again, 148 only after a reload.
  await expect(page.getByRole('alert').filter({ hasText: 'Something went wrong on this page.' })).toBeVisible();
  await page.unroute(script);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(detail(page)).toBeVisible();
});
