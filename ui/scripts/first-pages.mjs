// Finds the modules that the first pages after the login share, with each other or with parts of the page that load
// later, for the chunks in `vite.config.ts`. A Vite plugin with the method `shares`, which has its answers from the end
// of the module graph on.

const MESSAGES = '/paraglide/messages.js';
const MESSAGE = /\bm\.(\w+)/g;

/** The IDs of the modules that this one imports statically; of the messages, only those that it shows. */
function importsOf({ importedIds, code }) {
  return importedIds.flatMap((imported) => {
    // This module exports every message there is.
    if (!imported.endsWith(MESSAGES)) return imported;
    const names = new Set([...(code ?? '').matchAll(MESSAGE)].map(([, name]) => name));
    return [...names].map((name) => imported.replace(MESSAGES, `/paraglide/messages/${name}.js`));
  });
}

/** The ID of the module and of everything that it imports statically. */
function reachable(entry, imports) {
  const seen = new Set([entry]);
  for (const id of seen) for (const imported of imports.get(id) ?? []) seen.add(imported);
  return seen;
}

/**
 * The modules that at least one of `first` needs, and at least two modules that load on demand, without those that every
 * view loads. `modules` are by ID.
 */
export function sharedBy(first, modules) {
  const imports = new Map([...modules].map(([id, info]) => [id, importsOf(info)]));
  const onDemand = new Set([...modules.values()].flatMap(({ dynamicallyImportedIds }) => dynamicallyImportedIds));
  const count = new Map();
  for (const entry of onDemand) for (const id of reachable(entry, imports)) count.set(id, (count.get(id) ?? 0) + 1);
  const everywhere = new Set();
  for (const [id, { isEntry }] of modules) if (isEntry) for (const one of reachable(id, imports)) everywhere.add(one);
  const needed = first.flatMap((entry) => [...reachable(entry, imports)]);
  return new Set(needed.filter((id) => (count.get(id) ?? 0) > 1 && !everywhere.has(id)));
}

/** `paths` are the ends of the IDs of the first pages. */
export function firstPages(paths) {
  let shared = new Set();
  return {
    name: 'first-pages',
    apply: 'build',
    buildEnd(error) {
      if (error) return;
      const modules = new Map([...this.getModuleIds()].map((id) => [id, this.getModuleInfo(id)]));
      const idOf = (path) => [...modules.keys()].find((id) => id.endsWith(path)) ?? this.error(`there is no ${path}`);
      shared = sharedBy(paths.map(idOf), modules);
    },
    shares: (id) => shared.has(id),
  };
}
