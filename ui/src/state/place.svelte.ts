// Where the person is: the path and query of the address bar, and how to go elsewhere without loading the page anew.

export const place = $state({ path: location.pathname, query: location.search });

/** Asked before the place changes; `false` keeps the person where they are (unsaved input). */
let mayLeave: (() => boolean) | null = null;

/** Sets what is asked before leaving. Gives the function that takes it back. */
export function guardLeaving(ask: () => boolean): () => void {
  mayLeave = ask;
  return () => {
    if (mayLeave === ask) mayLeave = null;
  };
}

/** Whether the person may be taken away from here; asks them where something is unsaved. */
export const mayGo = (): boolean => mayLeave === null || mayLeave();

/** Goes to a path of this page, which may hold a query. */
export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  if (to === place.path + place.query) return;
  if (!mayGo()) return;
  mayLeave = null;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  arrive();
}

/** Changes the query alone: filters that belong into the address but are no step of their own. */
export function setQuery(values: Record<string, string | null>): void {
  const query = new URLSearchParams(place.query);
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  history.replaceState(null, '', place.path + (text ? `?${text}` : ''));
  place.query = text ? `?${text}` : '';
}

function arrive(): void {
  place.path = location.pathname;
  place.query = location.search;
}

addEventListener('popstate', () => {
  // The browser went already: whoever stays comes back to where they were.
  if (!mayGo()) return history.pushState(null, '', place.path + place.query);
  mayLeave = null;
  arrive();
});

/** Links within the page go without loading; whatever wants another window, a download or another host is left alone. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest?.('a[href]') as HTMLAnchorElement | null;
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (/^\/(api|share|v1|assets)\//.test(link.pathname)) return;
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
});
