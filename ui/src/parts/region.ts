// The region of the user. All formats of dates, numbers and lists use its locale.
import { getLocale } from '../paraglide/runtime.js';

/**
 * Returns the language of the texts with the user's region, such as `en-GB`. This is the browser's own entry for that
 * language. If there is none, the region comes from the browser's first language with a region. English texts in a
 * browser set to `de-AT` therefore show dates and numbers as in `en-AT`.
 */
export const regional = (): string => regionalOf(getLocale(), globalThis.navigator?.languages ?? []);

export function regionalOf(language: string, preferred: readonly string[]): string {
  const own = preferred.find((one) => one === language || one.startsWith(`${language}-`));
  if (own) return own;
  const region = preferred.map(regionIn).find(Boolean);
  return region ? `${language}-${region}` : language;
}

function regionIn(tag: string): string | undefined {
  try {
    return new Intl.Locale(tag).region;
  } catch {
    return undefined;
  }
}

/** Caches a format by locale, because creating a format is slow and a list needs hundreds. */
export function kept<Format>(make: (locale: string) => Format): () => Format {
  const known = new Map<string, Format>();
  return () => {
    const locale = regional();
    const format = known.get(locale) ?? make(locale);
    known.set(locale, format);
    return format;
  };
}
