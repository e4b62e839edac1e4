// The language of the page. It is the language chosen in this browser or, without a choice, the first of the browser's
// languages with a catalog. Imported before any other module that shows a text.
import { baseLocale, isLocale, overwriteGetLocale, type Locale } from '../paraglide/runtime.js';

const KEY = 'gatehouse.language';

/** The language that the user chose; null follows the browser. */
export const chosenLanguage: Locale | null = stored();

const shown = chosenLanguage ?? languageOf(globalThis.navigator?.languages ?? []);
// The language is resolved only once, because every text asks for it.
overwriteGetLocale(() => shown);
if (typeof document !== 'undefined') document.documentElement.lang = shown;

/** Returns the page language for a user's preferred languages, best first. */
export function languageOf(preferred: readonly string[]): Locale {
  const languages = preferred.map((tag) => tag.split('-')[0]?.toLowerCase());
  return languages.find(isLocale) ?? baseLocale;
}

/** Stores the choice and reloads the page in that language. Null follows the browser. */
export function chooseLanguage(language: Locale | null): void {
  try {
    if (language) localStorage.setItem(KEY, language);
    else localStorage.removeItem(KEY);
  } catch {
    // Storage may be disabled. The page then stays in the browser's language.
  }
  location.reload();
}

function stored(): Locale | null {
  try {
    const value = localStorage.getItem(KEY);
    return isLocale(value) ? value : null;
  } catch {
    return null;
  }
}
