// The region of the user, for dates and numbers.
import { getLocale } from '../paraglide/runtime.js';

/** The language of the texts with the region that the browser prefers for it, such as `en-GB`. */
export function regional(): string {
  const language = getLocale();
  const preferred = globalThis.navigator?.languages ?? [];
  return preferred.find((one) => one === language || one.startsWith(`${language}-`)) ?? language;
}
