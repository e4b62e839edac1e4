// Loads modules that are not needed immediately.

/** Style sheets that failed to load. Vite never requests them again automatically. */
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
 * The parameter is a function, because Vite treats `import(…).then(…)` as one expression: handlers that are attached
 * directly do not run if a style sheet failed.
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
 * Returns whether the gateway responds. Chromium never requests a module again after a failure, so the page checks this
 * before it loads a module.
 */
export const gatewayResponds = (): Promise<boolean> =>
  fetch('/favicon.ico', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
