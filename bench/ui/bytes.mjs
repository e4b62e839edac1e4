// Measures the bytes that are transferred before the requested page is visible. The page records this moment. It is
// later than the browser's "first paint", which shows only the line of text in the document, so this measurement
// counts more bytes. Requests that begin after the moment do not count. Requests that began before it count in
// full.
import { withBrowser } from './browser.mjs';
import { row } from './table.mjs';

/** Number of runs, whose median is the result. In some runs, requests that usually follow the page finish before it. */
const RUNS = 3;
/** The types of the DevTools protocol that are counted; icons and pictures load after the page. */
const COUNTED = ['Script', 'Stylesheet', 'Document', 'Font'];

export async function measureBytes(gateway) {
  const login = await loadedUntil(gateway, '/', [], 'input[type=password]');
  const rows = [
    row('JavaScript before the login is seen (brotli)', { most: 40 }, login.Script, 'KiB'),
    row('fonts before the login is seen', { most: 80 }, login.Font, 'KiB'),
  ];
  for (const [name, path, seen] of [
    ['overview', '/overview', 'main h1'],
    ['chat', '/chat', 'main h1'],
    ['deliveries', '/deliveries', '[data-id]'],
  ]) {
    const runs = [];
    for (let run = 0; run < RUNS; run++) runs.push(await loadedUntil(gateway, path, gateway.cookies, seen));
    const sum = ({ Script, Stylesheet, Document }) => Script + Stylesheet + Document;
    const loaded = runs.sort((a, b) => sum(a) - sum(b))[Math.floor(RUNS / 2)];
    const page = round(sum(loaded));
    rows.push(row(`document, styles and JavaScript before ${name} is seen (brotli)`, { most: 120 }, page, 'KiB'));
    rows.push(row(`fonts before ${name} is seen`, { most: 80 }, loaded.Font, 'KiB'));
  }
  return rows;
}

const round = (kib) => Math.round(kib * 10) / 10;

/** Records when an element appears. */
const noteMoment = (selector) => {
  new MutationObserver((_, observer) => {
    if (!document.querySelector(selector)) return;
    observer.disconnect();
    performance.mark('seen');
  }).observe(document, { childList: true, subtree: true });
};

/** Returns the transferred KiB by type of all requests that began before an element appeared. */
async function loadedUntil(gateway, path, cookies, selector) {
  return withBrowser(async (context) => {
    if (cookies.length > 0) await context.addCookies(cookies);
    const page = await context.newPage();
    const network = await context.newCDPSession(page);
    const files = new Map();
    network.on('Network.responseReceived', ({ requestId, type, response }) => {
      if (!COUNTED.includes(type)) return;
      const encoding = response.headers['content-encoding'] ?? response.headers['Content-Encoding'];
      files.set(requestId, { url: response.url, type, encoding, bytes: 0 });
    });
    network.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
      const file = files.get(requestId);
      if (file) file.bytes += encodedDataLength;
    });
    await network.send('Network.enable');
    await page.addInitScript(noteMoment, selector);
    await page.goto(gateway.origin + path);
    await page.waitForFunction(() => performance.getEntriesByName('seen').length > 0);
    // Waits, so that requests in progress are counted in full.
    await page.waitForLoadState('networkidle');
    const before = await page.evaluate(() => {
      const [seen] = performance.getEntriesByName('seen');
      return performance
        .getEntriesByType('resource')
        .filter(({ startTime }) => startTime <= seen.startTime)
        .map(({ name }) => name);
    });
    const counted = new Set([gateway.origin + path, ...before]);
    const all = [...files.values()].filter(({ url }) => counted.has(url));
    // Fonts have their own compression.
    const plain = all.filter(({ type, encoding, bytes }) => type !== 'Font' && encoding !== 'br' && bytes > 1024 * 4);
    if (plain.length > 0) throw new Error(`not sent as brotli: ${plain.map(({ url }) => url).join(', ')}`);
    const kib = (type) => round(all.filter((one) => one.type === type).reduce((sum, { bytes }) => sum + bytes, 0) / 1024);
    const sizes = Object.fromEntries(COUNTED.map((type) => [type, kib(type)]));
    if (sizes.Script === 0) throw new Error(`${path} loaded no script, or the browser did not tell its size`);
    return sizes;
  });
}
