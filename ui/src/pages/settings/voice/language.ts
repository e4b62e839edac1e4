import { m } from '../../../paraglide/messages.js';
import { getLocale } from '../../../paraglide/runtime.js';

/** Returns the display name of a language tag. `und` means unknown. */
export function languageName(tag: string): string {
  if (tag === 'und' || tag === '') return m.voice_language_unknown();
  try {
    return new Intl.DisplayNames(getLocale(), { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
