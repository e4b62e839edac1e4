// Caches one offline page for when the gateway does not respond. No response of the gateway is ever stored.
// All requests other than navigations go to the network unchanged. A click on a notification opens its page.
const OFFLINE = ['/assets/offline.html', '/assets/offline.css', '/assets/offline.js'];
const CACHE = 'gatehouse-offline-3';

self.addEventListener('install', (event) => {
  const keep = caches
    .open(CACHE)
    .then((cache) => cache.addAll(OFFLINE.map((url) => new Request(url, { cache: 'reload' }))));
  event.waitUntil(keep.then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  const clear = caches
    .keys()
    .then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name))));
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
