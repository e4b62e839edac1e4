// Notifications through a push service. Chromium has none here: a stub takes its place, and the test delivers the
// messages.
import type { BrowserContext, CDPSession, Page, Worker } from '@playwright/test';
import { violations } from './fixtures/axe';
import type { Gateway } from './fixtures/gateway';
import { expect, test } from './fixtures/test';

/** Chromium says so itself. */
const INCOGNITO = /does not support the Push API in incognito mode/;

interface Listed {
  subscriptions: { id: string; push_service: string }[];
}

/** Keeps the subscription in the storage of the site, as a browser does. */
const stub = (page: Page) =>
  page.addInitScript(() => {
    if (!isSecureContext) return;
    const KEY = 'test.subscription';
    const made = () => {
      const text = localStorage.getItem(KEY);
      if (text === null) return null;
      const { endpoint, key } = JSON.parse(text) as { endpoint: string; key: string };
      const bytes = Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
      // RFC 8291, appendix A.
      const p256dh = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';
      return {
        endpoint,
        options: { applicationServerKey: bytes.buffer, userVisibleOnly: true },
        toJSON: () => ({ endpoint, keys: { p256dh, auth: 'BTBZMqHH6r4Tts7J_aSIgg' } }),
        unsubscribe: () => {
          localStorage.removeItem(KEY);
          return Promise.resolve(true);
        },
      };
    };
    Object.assign(PushManager.prototype, {
      getSubscription: () => Promise.resolve(made()),
      subscribe: ({ applicationServerKey }: { applicationServerKey: string }) => {
        const endpoint = `https://push.example/${crypto.randomUUID()}`;
        localStorage.setItem(KEY, JSON.stringify({ endpoint, key: applicationServerKey }));
        return Promise.resolve(made());
      },
    });
  });

const listed = async (home: Gateway) => (await home.rpc<Listed>('push.list')).subscriptions;
const choice = (page: Page) => page.getByRole('switch', { name: 'Notify me in this browser' });
const subscription = (page: Page) => page.evaluate(() => localStorage.getItem('test.subscription'));
const browsers = (page: Page) => page.getByRole('list', { name: 'Browsers with notifications' });

async function subscribed(page: Page): Promise<void> {
  await stub(page);
  await page.goto('/settings/notifications');
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await choice(page).click();
  await expect(page.getByText('You are also notified while no Gatehouse page is open.')).toBeVisible();
}

test.describe('with the permission', () => {
  test.use({ permissions: ['notifications'] });

  test('a browser subscribes, is in the list, and is removed there or by its switch', async ({ home, page }) => {
    await subscribed(page);
    const row = browsers(page).getByRole('listitem');
    await expect(row).toHaveCount(1);
    await expect(row).toContainText('This browser');
    await expect(row).toContainText('push.example');
    expect(await violations(page)).toEqual([]);
    const [first] = await listed(home);

    // The next visit uses the same subscription.
    await page.reload();
    await expect(row).toContainText('This browser');
    await expect.poll(() => listed(home)).toEqual([first]);

    await choice(page).click();
    await expect(choice(page)).not.toBeChecked();
    await expect.poll(() => listed(home)).toEqual([]);
    await expect(browsers(page)).toHaveCount(0);

    await choice(page).click();
    await expect(row).toContainText('This browser');
    await row.getByRole('button', { name: /Remove/ }).click();
    await expect(choice(page)).not.toBeChecked();
    await expect.poll(() => listed(home)).toEqual([]);
  });

  test('a browser that was removed elsewhere does not subscribe again', async ({ home, page }) => {
    await subscribed(page);
    await expect.poll(() => listed(home)).toHaveLength(1);
    const [own] = await listed(home);
    await home.rpc('push.unsubscribe', { id: own?.id });
    await page.reload();
    await expect(choice(page)).not.toBeChecked();
    const toasts = page.getByRole('region', { name: 'Notifications', exact: true });
    await expect(toasts.getByText('subscription has ended')).toBeVisible();
    await expect.poll(() => subscription(page)).toBeNull();
    await expect.poll(() => listed(home)).toEqual([]);
  });

  test('a message is shown unless a page is in view, and its answer closes it', async ({ home: _, page, context }) => {
    await subscribed(page);
    const worker = await workerOf(context);
    await worker.evaluate(() => {
      const badges: number[] = [];
      Object.assign(self, { badges });
      Object.assign(navigator, {
        setAppBadge: (count: number) => Promise.resolve(void badges.push(count)),
        clearAppBadge: () => Promise.resolve(void badges.push(0)),
      });
    });
    const deliver = await delivery(page);
    const asked = {
      kind: 'approval',
      tag: 'approval apr_1',
      name: 'web_fetch',
      body: '{"url":"http://127.0.0.1:1/"}',
      url: '/chat/ses_1',
      waiting: 2,
    };
    await deliver(asked);
    // The service worker handles this one after the first is done.
    await deliver({ kind: 'closed', tag: 'approval apr_2', waiting: 3 });
    await expect.poll(() => badgesOf(worker)).toEqual([2, 3]);
    await expect.poll(() => shownBy(worker)).toEqual([]);

    await leave(page, worker);
    await deliver(asked);
    const shown = { title: 'The agent waits for approval of “web_fetch”', body: asked.body, url: '/chat/ses_1' };
    await expect.poll(() => shownBy(worker)).toEqual([shown]);
    // The same call again replaces it.
    await deliver({ ...asked, waiting: 1 });
    await expect.poll(() => badgesOf(worker)).toEqual([2, 3, 2, 1]);
    await expect.poll(() => shownBy(worker)).toEqual([shown]);
    await deliver({ kind: 'closed', tag: asked.tag, waiting: 0 });
    const answered = { ...shown, title: 'The agent no longer waits for approval' };
    await expect.poll(() => shownBy(worker)).toEqual([answered]);
    await expect.poll(() => badgesOf(worker)).toEqual([2, 3, 2, 1, 0]);
    // While a page is visible, the answer closes it.
    await page.goto('/settings/notifications');
    await expect.poll(() => windowsOf(worker)).toEqual(['visible']);
    await deliver({ kind: 'closed', tag: asked.tag, waiting: 0 });
    await expect.poll(() => shownBy(worker)).toEqual([]);
    // Without a notification, the answer shows nothing.
    await leave(page, worker);
    await deliver({ kind: 'closed', tag: asked.tag, waiting: 0 });
    await deliver({ kind: 'inbox', tag: 'inbox', name: 'House $&', body: 'Hello', url: '/inbox' });
    await expect.poll(() => shownBy(worker)).toEqual([{ title: 'Message from House $&', body: 'Hello', url: '/inbox' }]);
  });

  test('Safari shows each message, and a notification that fails becomes a plain one', async ({ home: _, page, context }) => {
    await subscribed(page);
    const worker = await workerOf(context);
    await worker.evaluate(() => {
      const { registration } = self as never as { registration: ServiceWorkerRegistration };
      const calls: unknown[] = [];
      Object.assign(self, { calls });
      const show = registration.showNotification.bind(registration);
      registration.showNotification = (title, options) => {
        calls.push([title, options?.silent ?? false]);
        return options?.body === 'fails' ? Promise.reject(new TypeError('fails')) : show(title, options);
      };
      Object.defineProperty(navigator, 'userAgent', { value: 'Mozilla/5.0 AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15' });
    });
    const calls = () => worker.evaluate(() => (self as never as { calls: unknown[] }).calls);
    const deliver = await delivery(page);
    await deliver({ kind: 'inbox', tag: 'inbox', name: 'House', body: 'Hello', url: '/inbox' });
    await expect.poll(calls).toEqual([['Message from House', true]]);
    await expect.poll(() => shownBy(worker)).toEqual([]);
    await leave(page, worker);
    await deliver({ kind: 'inbox', tag: 'inbox', name: 'House', body: 'fails', url: '/inbox' });
    await expect.poll(() => shownBy(worker)).toEqual([{ title: 'Gatehouse', body: '', url: '/inbox' }]);
  });

  test('a browser that is turned off while it subscribes is not subscribed', async ({ home, page }) => {
    await stub(page);
    await page.addInitScript(() => {
      if (!isSecureContext) return;
      const { subscribe } = PushManager.prototype;
      const held = new Promise<void>((release) => Object.assign(window, { release, asked: 0 }));
      PushManager.prototype.subscribe = async function (options) {
        (window as never as { asked: number }).asked += 1;
        await held;
        return subscribe.call(this, options);
      };
    });
    await page.goto('/settings/notifications');
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await choice(page).click();
    await expect.poll(() => page.evaluate(() => (window as never as { asked: number }).asked)).toBe(1);
    await choice(page).click();
    await expect(choice(page)).not.toBeChecked();
    await page.evaluate(async () => {
      const remove = Storage.prototype.removeItem;
      const removed = new Promise<void>((resolve) => {
        Storage.prototype.removeItem = function (key) {
          remove.call(this, key);
          if (key === 'test.subscription') resolve();
        };
      });
      (window as never as { release: () => void }).release();
      await removed;
    });
    await expect.poll(() => subscription(page)).toBeNull();
    await expect.poll(() => listed(home)).toEqual([]);
  });

  test('a logout ends the subscription and closes the notifications', async ({ home: _, page, context }) => {
    await subscribed(page);
    const worker = await workerOf(context);
    const deliver = await delivery(page);
    await leave(page, worker);
    await deliver({ kind: 'inbox', tag: 'inbox', name: 'House', body: 'Hello', url: '/inbox' });
    await expect.poll(() => shownBy(worker)).toHaveLength(1);
    await page.goto('/settings/notifications');
    await expect.poll(() => subscription(page)).not.toBeNull();
    await page.getByRole('button', { name: 'Account and theme' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await expect(page.getByRole('button', { name: 'Log in', exact: true })).toBeVisible();
    await expect.poll(() => shownBy(worker)).toEqual([]);
    await expect.poll(() => subscription(page)).toBeNull();
  });

  test('without a push service, the open page notifies', async ({ home, page, complaints }) => {
    complaints.allow(INCOGNITO);
    await page.goto('/settings/notifications');
    await choice(page).click();
    await expect(page.getByText('You are notified only while a Gatehouse page is open')).toBeVisible();
    await expect(choice(page)).toBeChecked();
    expect(await listed(home)).toEqual([]);
  });
});

const workerOf = async (context: BrowserContext) =>
  context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
const windowsOf = (worker: Worker) =>
  worker.evaluate(async () => {
    const { clients } = self as never as {
      clients: { matchAll: (options: object) => Promise<{ visibilityState: string }[]> };
    };
    const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
    return windows.map(({ visibilityState }) => visibilityState);
  });

/** Returns when no page of Gatehouse is open. */
async function leave(page: Page, worker: Worker): Promise<void> {
  await page.goto('about:blank');
  await expect.poll(() => windowsOf(worker)).toEqual([]);
}

/** Returns a function that delivers a message to the service worker. */
async function delivery(page: Page): Promise<(text: object) => Promise<void>> {
  const session: CDPSession = await page.context().newCDPSession(page);
  const registration = new Promise<{ registrationId: string; scopeURL: string }>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [first] = registrations;
      if (first) resolve(first);
    });
  });
  await session.send('ServiceWorker.enable');
  const { registrationId, scopeURL } = await registration;
  const { origin } = new URL(scopeURL);
  return async (text) => {
    // A navigation to another process ends it.
    await session.send('ServiceWorker.enable');
    await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: JSON.stringify(text) });
  };
}

const badgesOf = (worker: Worker) => worker.evaluate(() => (self as never as { badges: number[] }).badges);
const shownBy = (worker: Worker) =>
  worker.evaluate(async () => {
    const { registration } = self as never as { registration: ServiceWorkerRegistration };
    const shown = await registration.getNotifications();
    return shown.map(({ title, body, data }) => ({ title, body, url: (data as { url: string }).url }));
  });
