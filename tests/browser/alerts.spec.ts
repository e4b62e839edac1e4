// Notifications of the browser while no window of the app is in view.
import type { BrowserContext, Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { isLive } from './fixtures/entering';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect } from './fixtures/test';
import { test as base } from './fixtures/with-model';

const test = base.extend<object>({
  environment: async ({ model }, use) =>
    use({ ...model.environment, SERVICE_TOOLS__REQUIRE_APPROVAL: '["web_fetch"]' }),
});

/** The context of a test has no push service, which Chromium says itself. */
const INCOGNITO = /does not support the Push API in incognito mode/;

type Counting = { shown: string[] };

/** Records the titles of the notifications that each window shows. */
const count = (context: BrowserContext) =>
  context.addInitScript(() => {
    // An empty new window is no secure context.
    if (!isSecureContext) return;
    const shown: string[] = [];
    Object.assign(window, { shown });
    const { prototype } = ServiceWorkerRegistration;
    const show = prototype.showNotification;
    prototype.showNotification = function (title, options) {
      shown.push(title);
      return show.call(this, title, options);
    };
  });

const shownBy = (page: Page) => page.evaluate(() => (window as never as Counting).shown);
const shownByAll = async (...pages: Page[]) => (await Promise.all(pages.map(shownBy))).flat().sort();
const open = (page: Page, tag: string) =>
  page.evaluate(async (tag) => (await (await navigator.serviceWorker.ready).getNotifications({ tag })).length, tag);

/** The user looks at something else. Playwright gives every page the focus. */
const away = (page: Page) =>
  page.evaluate(() => {
    document.hasFocus = () => false;
    dispatchEvent(new Event('blur'));
  });
const back = (page: Page) =>
  page.evaluate(() => {
    document.hasFocus = () => true;
    dispatchEvent(new Event('focus'));
  });
/** Waits until this many windows hold the lock. */
const locks = (page: Page, name: string, held: number) =>
  expect
    .poll(() =>
      page.evaluate(async (name) => (await navigator.locks.query()).held?.filter((one) => one.name === name).length, name),
    )
    .toBe(held);

test.describe('with the permission', () => {
  test.use({ permissions: ['notifications'] });

  test('one of two windows notifies of approvals, failures and messages, and none while one is in view', async ({ home, page, context, model, complaints }) => {
    complaints.allow(INCOGNITO);
    await count(context);
    const hook = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
    await page.goto('/settings/notifications');
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    const choice = page.getByRole('switch', { name: 'Notify me in this browser' });
    await choice.click();
    await expect(choice).toBeChecked();
    await locks(page, 'gatehouse.alerts', 1);
    const other = await context.newPage();
    await other.goto('/deliveries');
    await isLive(other);
    await locks(page, 'gatehouse.in-view', 2);

    await away(page);
    await locks(page, 'gatehouse.in-view', 1);
    await home.rpc('channels.test', { id: 'inbox', text: 'Seen in the other window' });
    for (const window of [page, other]) await expect(window.getByRole('link', { name: /Inbox.*1 unread/ })).toBeVisible();

    await away(other);
    await locks(page, 'gatehouse.in-view', 0);
    await home.rpc('channels.test', { id: 'inbox', text: 'Not seen' });
    await expect.poll(() => shownByAll(page, other)).toHaveLength(1);
    await expect.poll(() => open(page, 'inbox')).toBe(1);
    model.next({ finish: 'content_filter' });
    await deliver(home, hook, pullRequest(7), { event: 'pull_request' });
    await expect.poll(() => shownByAll(page, other)).toHaveLength(2);
    model.next({ tool: { name: 'web_fetch', arguments: { url: 'http://127.0.0.1:1/' } } });
    await home.rpc('chat.send', { text: 'Fetch it' });
    await expect.poll(() => shownByAll(page, other)).toHaveLength(3);
    const { approvals } = await home.rpc<{ approvals: { id: string }[] }>('approval.list');
    const tag = `approval ${approvals[0]?.id}`;
    await expect.poll(() => open(page, tag)).toBe(1);
    model.next({ text: ['Then not.'] });
    await home.rpc('approval.resolve', { id: approvals[0]?.id, allow: false });
    await expect.poll(() => open(page, tag)).toBe(0);
    // Nothing came twice, and the first window showed all of it.
    expect(await shownBy(page)).toEqual([
      expect.stringMatching(/^Message from /),
      'A delivery failed',
      'The agent waits for approval of “web_fetch”',
    ]);
    expect(await shownBy(other)).toEqual([]);

    // Another window takes over, until it is turned off.
    await page.close();
    // Until then it waited for the lock of the closed window.
    await expect.poll(() => other.evaluate(async () => (await navigator.locks.query()).pending?.length)).toBe(0);
    await locks(other, 'gatehouse.alerts', 1);
    await home.rpc('channels.test', { id: 'inbox', text: 'To the other' });
    await expect.poll(() => shownBy(other)).toHaveLength(1);
    await back(other);
    await other.goto('/settings/notifications');
    await other.getByRole('switch', { name: 'Notify me in this browser' }).click();
    await locks(other, 'gatehouse.alerts', 0);
  });

  test('the window that asked notifies of the answer, or that there is none', async ({ home: _, page, context, model, complaints }) => {
    complaints.allow(INCOGNITO);
    await count(context);
    await page.goto('/settings/notifications');
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await page.getByRole('switch', { name: 'Notify me in this browser' }).click();
    await locks(page, 'gatehouse.alerts', 1);
    const other = await context.newPage();
    await other.goto('/deliveries');
    await isLive(other);
    await away(other);
    await page.goto('/chat');
    await isLive(page);

    const ask = async (said: Parameters<typeof model.next>[0]) => {
      // An answer is shown just before its turn ends.
      await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0);
      model.next({ ...said, hold: true });
      await page.getByRole('textbox', { name: 'Message' }).fill('How many gates?');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
    };
    await ask({ text: ['One ', 'gate.'] });
    model.go();
    await expect(page.getByText('One gate.', { exact: true })).toBeVisible();
    await ask({ text: ['Two ', 'gates.'] });
    await away(page);
    await locks(page, 'gatehouse.in-view', 0);
    model.go();
    await expect.poll(() => shownBy(page)).toEqual(['The agent answered']);
    await back(page);
    await ask({ text: ['No', ' more'], cut: true });
    await away(page);
    await locks(page, 'gatehouse.in-view', 0);
    model.go();
    await expect.poll(() => shownBy(page)).toEqual(['The agent answered', 'The agent could not answer']);
    expect(await shownBy(other)).toEqual([]);
  });

  test('the banner of an approval offers notifications', async ({ home, page, model, complaints }) => {
    complaints.allow(INCOGNITO);
    await page.goto('/deliveries');
    await isLive(page);
    model.next({ tool: { name: 'web_fetch', arguments: { url: 'http://127.0.0.1:1/' } } });
    await home.rpc('chat.send', { text: 'Fetch it' });
    const asked = page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' });
    const offer = asked.getByRole('button', { name: 'Notify me in this browser' });
    await expect(offer).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await offer.click();
    await expect(offer).toHaveCount(0);
    await page.goto('/settings/notifications');
    await expect(page.getByRole('switch', { name: 'Notify me in this browser' })).toBeChecked();
  });
});

test('a browser that blocks notifications says so', async ({ home: _, page, context }) => {
  // Refuses every permission that is not named.
  await context.grantPermissions([]);
  await page.goto('/settings/notifications');
  const part = page.getByRole('region', { name: 'In this browser' });
  await expect(part.getByText('This browser blocks notifications from this site.')).toBeVisible();
  await expect(part.getByRole('switch')).toHaveCount(0);
  expect(await violations(page)).toEqual([]);
});
