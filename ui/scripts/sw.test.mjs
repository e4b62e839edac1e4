import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';

/** Clicks on a notification while these windows are open. Returns what was opened, and where. */
async function click(url, windows) {
  const listeners = {};
  const opened = [];
  const clients = {
    matchAll: async () =>
      windows.map((at) => ({
        url: `https://gatehouse.test${at}`,
        postMessage: (message) => opened.push([at, message.open]),
        focus: async () => undefined,
      })),
    openWindow: async (at) => opened.push(['new', at]),
  };
  const self = { addEventListener: (name, listener) => (listeners[name] = listener), clients };
  const code = readFileSync(new URL('../public/sw.js', import.meta.url), 'utf8');
  runInContext(code, createContext({ self, URL }));
  let done;
  listeners.notificationclick({
    notification: { close: () => undefined, data: { url } },
    waitUntil: (work) => (done = work),
  });
  await done;
  return opened;
}

test('a click on a notification opens its page in a window of the app', async () => {
  expect(await click('/inbox', ['/overview', '/chat'])).toEqual([['/overview', '/inbox']]);
  expect(await click('/inbox', [])).toEqual([['new', '/inbox']]);
});

test('a shared conversation that is open does not swallow the click', async () => {
  expect(await click('/inbox', ['/share/abc'])).toEqual([['new', '/inbox']]);
  expect(await click('/inbox', ['/share/abc', '/settings'])).toEqual([['/settings', '/inbox']]);
});
