// Loading of modules that the page can do without for a while.

/** Style sheets that failed to load. Vite never requests them again by itself. */
const failed = new Set<HTMLLinkElement>();

/** Notices style sheets that fail to load. */
export function watchStyles(): void {
  const notice = ({ target }: Event) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failed.add(target);
  };
  // Error events of elements do not bubble.
  addEventListener('error', notice, { capture: true });
}

function requestAgain(link: HTMLLinkElement): Promise<unknown> {
  failed.delete(link);
  const next = link.cloneNode() as HTMLLinkElement;
  const loaded = new Promise((resolve, reject) => {
    next.addEventListener('load', resolve);
    next.addEventListener('error', reject);
  });
  link.replaceWith(next);
  return loaded;
}

/**
 * Resolves to the module, or to `null` if it or a style sheet does not load.
 *
 * Vite treats `import(…).then(…)` as one expression, so handlers that are attached directly never see a style sheet that
 * failed. That is why this takes a function.
 */
export async function moduleOrNull<T>(load: () => Promise<T>): Promise<T | null> {
  try {
    await Promise.all([...failed].map(requestAgain));
    return await load();
  } catch {
    return null;
  }
}

/**
 * Whether the gateway responds. Chromium never requests a module again that failed to load, so a page that lost its
 * connection asks before it loads one.
 */
export const gatewayResponds = (): Promise<boolean> =>
  fetch('/favicon.ico', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
