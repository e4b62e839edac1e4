// The current path and query, and navigation without reloading the page.

export const place = $state({
  path: location.pathname,
  query: location.search,
  /** The page of this app from which the user came here. */
  from: cameFrom(),
});

function cameFrom(): string | null {
  const state = history.state as { from?: unknown } | null;
  return typeof state?.from === 'string' ? state.from : null;
}

/**
 * Called before navigation. `false` keeps the user on the page, for example because of unsaved
 * input.
 */
let mayLeave: (() => boolean) | null = null;

/** Sets the question to ask before leaving. Returns a function that removes it. */
export function guardLeaving(ask: () => boolean): () => void {
  mayLeave = ask;
  return () => {
    if (mayLeave === ask) mayLeave = null;
  };
}

/**
 * Asks `question` before the user leaves the page with unsaved input, by a link of this app or by the browser. Returns
 * a function that ends this.
 */
export function guardInput(isUnsaved: () => boolean, question: () => string): () => void {
  const end = guardLeaving(() => !isUnsaved() || confirm(question()));
  const warn = (event: BeforeUnloadEvent) => isUnsaved() && event.preventDefault();
  addEventListener('beforeunload', warn);
  return () => {
    end();
    removeEventListener('beforeunload', warn);
  };
}

/** Whether navigation may proceed. Asks the user if a guard is set. */
export const mayGo = (): boolean => mayLeave === null || mayLeave();

/** Navigates to a path of this app, which may include a query. */
export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  if (to === place.path + place.query) return;
  if (!mayGo()) return;
  mayLeave = null;
  if (replace) history.replaceState(history.state, '', to);
  else history.pushState({ from: place.path + place.query }, '', to);
  arrive();
}

/** Changes the query without a history entry, for filters that belong in the URL. */
export function setQuery(values: Record<string, string | null>): void {
  const query = new URLSearchParams(place.query);
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  history.replaceState(history.state, '', place.path + (text ? `?${text}` : ''));
  place.query = text ? `?${text}` : '';
}

function arrive(): void {
  place.path = location.pathname;
  place.query = location.search;
  place.from = cameFrom();
}

/**
 * Goes back to the page that the user came from, or to `fallback` if the user opened this page
 * directly.
 */
export function goBack(fallback: string): void {
  if (place.from === null) go(fallback);
  else history.back();
}

addEventListener('popstate', () => {
  // The browser has already gone back, so restore the previous entry if the user stays.
  if (!mayGo()) return history.pushState({ from: place.from }, '', place.path + place.query);
  mayLeave = null;
  arrive();
});

/**
 * Opens links within the app without a reload. Links to other windows or hosts and downloads are
 * unchanged.
 */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest?.('a[href]') as HTMLAnchorElement | null;
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (/^\/(api|share|v1|assets)\//.test(link.pathname)) return;
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
  event.preventDefault();
  // A step of a task replaces the previous step, and “Back” leaves the task.
  go(link.pathname + link.search + link.hash, { replace: 'replace' in link.dataset });
});
