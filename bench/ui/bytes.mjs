// JavaScript that has to travel before a person sees the page they came for. That moment is later than the browser's "first paint", which is
// the line of text in the document itself; so this counts more, not less.
import { withBrowser } from './browser.mjs';
import { row } from './table.mjs';

export async function measureBytes(gateway) {
  const login = await scriptsUntil(gateway, '/chat', [], (page) => page.locator('input[type=password]').waitFor());
  const app = await scriptsUntil(gateway, '/chat', gateway.cookies, (page) => page.locator('main h1').first().waitFor({ state: 'attached' }));
  const deliveries = await scriptsUntil(gateway, '/deliveries', gateway.cookies, (page) => page.locator('[data-id]').first().waitFor());
  return [
    row('JavaScript before the login is seen (brotli)', { most: 40 }, login, 'KiB'),
    row('JavaScript before the app (chat) is seen (brotli)', { most: 120 }, app, 'KiB'),
    row('JavaScript before the deliveries are seen (brotli)', { most: 120 }, deliveries, 'KiB'),
  ];
}

async function scriptsUntil(gateway, path, cookies, seen) {
  return withBrowser(async (context) => {
    if (cookies.length > 0) await context.addCookies(cookies);
    const page = await context.newPage();
    const network = await context.newCDPSession(page);
    const scripts = new Map();
    network.on('Network.responseReceived', ({ requestId, type, response }) => {
      if (type !== 'Script') return;
      const encoding = response.headers['content-encoding'] ?? response.headers['Content-Encoding'];
      scripts.set(requestId, { url: response.url, encoding, bytes: 0 });
    });
    network.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
      const script = scripts.get(requestId);
      if (script) script.bytes += encodedDataLength;
    });
    await network.send('Network.enable');
    await page.goto(gateway.origin + path);
    await seen(page);
    const all = [...scripts.values()];
    if (all.length === 0) throw new Error(`${path} loaded no script`);
    const plain = all.filter(({ encoding, bytes }) => encoding !== 'br' && bytes > 1024);
    if (plain.length > 0) throw new Error(`not sent as brotli: ${plain.map(({ url }) => url).join(', ')}`);
    const total = all.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total === 0) throw new Error(`the browser did not tell the sizes of ${path}`);
    return Math.round((total / 1024) * 10) / 10;
  });
}
