// Runs Lighthouse with its defaults, which simulate a mid-range phone on a slow network.
import { createServer } from 'node:net';
import lighthouse from 'lighthouse';
import { withBrowser } from './browser.mjs';
import { row } from './table.mjs';

const CATEGORIES = ['performance', 'accessibility', 'best-practices'];
/** Number of runs, whose median is the result. A single run depends too much on the load of the machine. */
const RUNS = 5;

export async function measureLighthouse(gateway) {
  const rows = [];
  for (const [name, path, cookies] of [
    ['login', '/', []],
    ['overview', '/overview', gateway.cookies],
    ['chat', '/chat', gateway.cookies],
    ['deliveries', '/deliveries', gateway.cookies],
  ]) {
    const runs = [];
    for (let run = 0; run < RUNS; run++) runs.push(await audited(gateway.origin + path, cookies));
    for (const category of CATEGORIES) {
      const scores = runs.map((scored) => scored[category].score).sort((a, b) => a - b);
      const score = scores[Math.floor(RUNS / 2)];
      rows.push(row(`Lighthouse ${category}, ${name}`, { least: 95 }, score));
      if (score >= 95) continue;
      const lost = [...new Set(runs.flatMap((scored) => scored[category].lost))];
      process.stderr.write(`  ${name}, ${category} ${scores.join('/')}: ${lost.join('; ')}\n`);
    }
  }
  return rows;
}

/** On a busy machine, a trace may lack its beginning. Lighthouse then recommends another run. */
async function audited(url, cookies) {
  for (let tries = 1; ; tries++) {
    try {
      return await audit(url, cookies);
    } catch (error) {
      if (tries === 3 || !/again/.test(error.message)) throw error;
    }
  }
}

async function audit(url, cookies) {
  const port = await freePort();
  return withBrowser(
    async (context) => {
      if (cookies.length > 0) await beInside(context, new URL(url).origin, cookies);
      const flags = { port, output: 'json', logLevel: 'error', onlyCategories: CATEGORIES, disableStorageReset: true };
      const { lhr } = await lighthouse(url, flags);
      if (lhr.runtimeError) throw new Error(`${url}: ${lhr.runtimeError.message}`);
      return Object.fromEntries(CATEGORIES.map((id) => [id, read(lhr, id)]));
    },
    { port },
  );
}

/** Prepares a browser that has logged in before: it has a session and the page's stored mark, but an empty cache. */
async function beInside(context, origin, cookies) {
  await context.addCookies(cookies);
  const page = await context.newPage();
  await page.goto(`${origin}/assets/offline.html`);
  await page.evaluate(() => localStorage.setItem('gatehouse.inside', '1'));
  await page.close();
}

/** Returns a category's score, and the audits that lowered it. */
function read(lhr, id) {
  const { score, auditRefs } = lhr.categories[id];
  if (score === null) throw new Error(`Lighthouse gave no score for ${id}`);
  const lost = auditRefs
    .map(({ id: name, weight }) => ({ audit: lhr.audits[name], weight }))
    .filter(({ audit: { score: own }, weight }) => weight > 0 && own !== null && own < 0.95)
    .map(({ audit: { title, displayValue } }) => (displayValue ? `${title}: ${displayValue}` : title));
  return { score: Math.round(score * 100), lost };
}

const freePort = () =>
  new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
