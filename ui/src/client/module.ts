// Loading of modules whose absence the page tolerates.

/**
 * Resolves to the module, or to `null` if it or one of its style sheets does not load.
 *
 * Vite treats `import(…).then(…)` as one expression, so handlers that are attached directly never see a style sheet that
 * failed. That is why this takes a function.
 */
export const moduleOrNull = <T>(load: () => Promise<T>): Promise<T | null> => load().catch(() => null);

/**
 * Whether the gateway responds. Chromium never requests a module again that failed to load, so a page that lost its
 * connection asks before it loads one.
 */
export const gatewayResponds = (): Promise<boolean> =>
  fetch('/favicon.ico', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

/** Lets a style sheet that failed load again later: Vite skips those that have an element in the document. */
export function forgetFailedStyles(): void {
  const forget = ({ target }: Event) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') target.remove();
  };
  // Error events of elements do not bubble.
  addEventListener('error', forget, { capture: true });
}
