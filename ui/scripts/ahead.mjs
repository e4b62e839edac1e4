// Writes dist/ahead.json: for each page after login, by the first segment of its path, the `Link` header that
// names the files the browser will need. The gateway sends it to recognized browsers, so that the files load
// together with the document instead of after the script that imports them.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const DIST = new URL('../dist/', import.meta.url).pathname;
export const ENTRY = 'index.html';
export const FRAME = 'src/shell/Inside.svelte';
export const PAGES = {
  '': 'src/pages/overview/Overview.svelte',
  overview: 'src/pages/overview/Overview.svelte',
  chat: 'src/pages/chat/Chat.svelte',
  deliveries: 'src/pages/deliveries/Deliveries.svelte',
  inbox: 'src/pages/inbox/Inbox.svelte',
  webhooks: 'src/pages/webhooks/Webhooks.svelte',
  agents: 'src/pages/agents/Agents.svelte',
  channels: 'src/pages/channels/Channels.svelte',
  settings: 'src/pages/settings/Settings.svelte',
};

/** The files of these modules and of everything they import, according to Vite's manifest. */
export function filesOf(manifest, names, seen = new Set()) {
  const files = new Set();
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    const found = manifest[name];
    if (!found) throw new Error(`the build has no ${name}`);
    for (const file of [...filesOf(manifest, found.imports ?? [], seen), found.file, ...(found.css ?? [])])
      files.add(file);
  }
  return files;
}

/** Rejects import cycles: a file of a cycle may run before its imports, and the page then fails to start. */
export function refuseCircles(manifest) {
  const sound = new Set();
  const walk = (name, above) => {
    if (above.includes(name))
      throw new Error(`files in a circle: ${[...above, name].join(' → ')}; see the groups in vite.config.ts`);
    if (sound.has(name)) return;
    for (const next of manifest[name]?.imports ?? []) walk(next, [...above, name]);
    sound.add(name);
  };
  for (const name of Object.keys(manifest)) walk(name, []);
}

/**
 * The header of each page. A browser that speaks HTTP/1.1 loads six files at a time, in this order; so it begins with the
 * files that the document itself names, and of them with the styles, without which nothing is painted.
 */
export function ahead(manifest) {
  const styles = (file) => (file.endsWith('.css') ? 0 : 1);
  const link = (file) =>
    `</${file}>; rel=${file.endsWith('.css') ? 'preload; as=style; crossorigin' : 'modulepreload'}`;
  return Object.fromEntries(
    Object.entries(PAGES).map(([path, page]) => {
      const named = [...filesOf(manifest, [ENTRY])].sort((a, b) => styles(a) - styles(b));
      const files = new Set([...named, ...filesOf(manifest, [FRAME, page])]);
      return [path, [...files].map(link).join(', ')];
    }),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const source = `${DIST}manifest.tmp.json`;
  const manifest = JSON.parse(readFileSync(source, 'utf8'));
  refuseCircles(manifest);
  writeFileSync(`${DIST}ahead.json`, JSON.stringify(ahead(manifest)));
  rmSync(source);
}
