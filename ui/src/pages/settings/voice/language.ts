import { m } from '../../../paraglide/messages.js';
import { getLocale } from '../../../paraglide/runtime.js';

/** A language by its name; `und` is one that nobody told. */
export function languageName(tag: string): string {
  if (tag === 'und' || tag === '') return m.voice_language_unknown();
  try {
    return new Intl.DisplayNames(getLocale(), { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
