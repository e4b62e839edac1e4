// Caches one offline page for when the gateway does not respond. No response of the gateway is ever stored.
// All requests other than navigations go to the network unchanged. Messages of the push service become notifications
// unless the user looks at a page. A click on a notification opens its page.
const OFFLINE = ['/assets/offline.html', '/assets/offline.css', '/assets/offline.js', '/assets/offline.woff2'];
const CACHE = 'gatehouse-offline-4';
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

const PLAIN = 'Gatehouse';

async function titleOf(kind, name) {
  try {
    const kept = await (await caches.open(TITLES)).match('/titles.json');
    const titles = kept ? await kept.json() : {};
    return (titles[kind] ?? PLAIN).replace('{name}', () => name ?? '');
  } catch {
    return PLAIN;
  }
}

// Browsers count messages that show nothing: a notification without details is better than none.
const notify = (title, options) =>
  self.registration
    .showNotification(title, options)
    .catch(() => self.registration.showNotification(PLAIN, { tag: options.tag, data: options.data }));

const opened = (tag) => self.registration.getNotifications({ tag });

async function close(tag) {
  for (const shown of await opened(tag)) shown.close();
}

// WebKit ends a subscription after three messages that show nothing, also while a page is in view.
const mustShow = () => /AppleWebKit\//.test(navigator.userAgent) && !/Chrom(e|ium)\//.test(navigator.userAgent);

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
    const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    const options = { body, tag, icon: '/icons/icon-192.png', data: { url } };
    if (kind === 'closed') {
      const [shown] = await opened(tag);
      const isInView = windows.some(({ visibilityState }) => visibilityState === 'visible');
      if (isInView || !shown) return close(tag);
      // Replacing it counts as showing something, closing it does not.
      return notify(await titleOf(kind), { ...options, body: shown.body, data: shown.data, silent: true });
    }
    const isFocused = windows.some(({ focused }) => focused);
    if (isFocused && !mustShow()) return;
    await notify(await titleOf(kind, name), { ...options, silent: isFocused });
    if (isFocused) await close(tag);
  };
  lastPush = lastPush.then(show).catch(() => undefined);
  event.waitUntil(lastPush);
});

/** Pages of the gateway that are not the app, such as a shared conversation, open nothing. */
const isApp = ({ url }) => !/^\/(api|share|v1|assets)\//.test(new URL(url).pathname);

self.addEventListener('notificationclick', (event) => {
  const { notification } = event;
  notification.close();
  const open = async () => {
    const shown = (await self.clients.matchAll({ type: 'window' })).find(isApp);
    if (!shown) return self.clients.openWindow(notification.data.url);
    shown.postMessage({ open: notification.data.url });
    return shown.focus();
  };
  event.waitUntil(open());
});
