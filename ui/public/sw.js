// Caches one offline page for when the gateway does not respond. No response of the gateway is ever stored.
// All requests other than navigations go to the network unchanged. Messages of the push service become notifications
// unless the user looks at a page. A click on a notification opens its page.
const OFFLINE = ['/assets/offline.html', '/assets/offline.css', '/assets/offline.js'];
const CACHE = 'gatehouse-offline-3';
// The page keeps the titles of notifications here, in the user's language (src/state/push.ts).
const TITLES = 'gatehouse-titles';

self.addEventListener('install', (event) => {
  const keep = caches
    .open(CACHE)
    .then((cache) => cache.addAll(OFFLINE.map((url) => new Request(url, { cache: 'reload' }))));
  event.waitUntil(keep.then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  const clear = caches
    .keys()
    .then((names) =>
      Promise.all(names.filter((name) => name !== CACHE && name !== TITLES).map((name) => caches.delete(name))),
    );
  event.waitUntil(clear.then(() => self.clients.claim()));
});

self.addEventListener('fetch', (event) => {
  const isVisit = event.request.mode === 'navigate';
  const isKept = OFFLINE.includes(new URL(event.request.url).pathname);
  if (!isVisit && !isKept) return;
  event.respondWith(
    fetch(event.request).catch(() =>
      caches.match(isVisit ? OFFLINE[0] : event.request).then((kept) => kept ?? Response.error()),
    ),
  );
});

async function titleOf(kind, name) {
  const kept = await (await caches.open(TITLES)).match('/titles.json');
  const titles = kept ? await kept.json() : {};
  return (titles[kind] ?? 'Gatehouse').replace('{name}', () => name ?? '');
}

async function setBadge(waiting) {
  // Browsers without badges, and those that show none for this site.
  await (waiting > 0 ? navigator.setAppBadge?.(waiting) : navigator.clearAppBadge?.())?.catch(() => undefined);
}

// A notification is open only when its icon is loaded, so a later message could not close it before.
let lastPush = Promise.resolve();

self.addEventListener('push', (event) => {
  const { kind, tag, name, body, url, waiting } = event.data.json();
  const show = async () => {
    if (waiting !== undefined) await setBadge(waiting);
    if (kind === 'closed') {
      for (const shown of await self.registration.getNotifications({ tag })) shown.close();
      return;
    }
    const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    if (windows.some(({ focused }) => focused)) return;
    const options = { body, tag, icon: '/icons/icon-192.png', data: { url } };
    await self.registration.showNotification(await titleOf(kind, name), options);
  };
  lastPush = lastPush.then(show).catch(() => undefined);
  event.waitUntil(lastPush);
});

self.addEventListener('notificationclick', (event) => {
  const { notification } = event;
  notification.close();
  const open = async () => {
    const [shown] = await self.clients.matchAll({ type: 'window' });
    if (!shown) return self.clients.openWindow(notification.data.url);
    shown.postMessage({ open: notification.data.url });
    return shown.focus();
  };
  event.waitUntil(open());
});
