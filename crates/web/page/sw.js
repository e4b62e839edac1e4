// A worker that keeps nothing and answers nothing: it has no fetch handler, so every request goes to the network as if it
// were not there, and the page makes no promise to work offline. It exists so that /sw.js is a real file; the page of this
// version does not register it. Should an older worker be in place, this one takes over and empties what that one stored.
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => {
  const clear = caches.keys().then((names) => Promise.all(names.map((name) => caches.delete(name))));
  event.waitUntil(clear.then(() => self.clients.claim()));
});
