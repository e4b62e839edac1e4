// Runs axe on the pages, in both themes and both languages.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { withBrowser } from './browser.mjs';
import { row } from './table.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Pages without a fixed URL are opened through the list that links to them. */
const PATHS = [
  '/overview',
  '/chat',
  '/deliveries',
  '/inbox',
  '/webhooks',
  '/webhooks/new',
  '/agents',
  '/channels',
  '/channels?new',
  '/vault',
  '/vault/stored',
  '/vault/environment',
  '/vault/ssh-keys',
  '/settings',
  '/settings/security',
  '/settings/security/access',
  '/settings/security/audit-log',
  '/settings/providers',
  '/settings/voice',
  '/settings/voice/listening',
  '/settings/voice/personas',
  '/settings/usage',
  '/settings/notifications',
  '/settings/mcp',
  '/settings/system',
  '/nothing',
];

export async function measureAxe(gateway) {
  const { deliveries } = await gateway.rpc('webhooks.deliveries', { limit: 1 });
  const { sessions } = await gateway.rpc('sessions.list', { limit: 1 });
  const inside = [...PATHS, `/webhooks/${gateway.webhook.id}`, `/deliveries/${deliveries[0].id}`, `/chat/${sessions[0].id}`];
  const rows = [];
  for (const locale of ['en-US', 'de-DE']) {
    const found = { light: [], dark: [] };
    const look = (paths, cookies) => withBrowser((context) => audit(context, gateway.origin, paths, cookies, found), { locale });
    await look(['/'], []);
    await look(inside, gateway.cookies);
    for (const [theme, violations] of Object.entries(found)) {
      rows.push(row(`violations axe finds on ${inside.length + 1} pages, ${locale}, ${theme}`, { most: 0 }, violations.length));
      for (const violation of violations) process.stderr.write(`  ${locale}, ${theme}, ${violation}\n`);
    }
  }
  return rows;
}

async function audit(context, origin, paths, cookies, found) {
  if (cookies.length > 0) await context.addCookies(cookies);
  const page = await context.newPage();
  for (const path of paths) {
    await page.goto(origin + path);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.waitForLoadState('networkidle');
    for (const theme of Object.keys(found)) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      for (const { id, nodes } of violations) found[theme].push(`${path}: ${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
    }
  }
}
