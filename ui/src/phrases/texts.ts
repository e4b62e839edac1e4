// Translates the gateway's descriptions by their English text into the language of the page. A text without a
// translation is unchanged.
import { getLocale, type Locale } from '../paraglide/runtime.js';
import { entryOf } from './sentences';

type Texts = Record<string, string>;
type Subject = 'channels' | 'senders' | 'settings' | 'voice';

const LOADERS: Partial<Record<Locale, Record<Subject, () => Promise<{ default: Texts }>>>> = {
  de: {
    channels: () => import('./de/channels.json'),
    senders: () => import('./de/senders.json'),
    settings: () => import('./de/settings.json'),
    voice: () => import('./de/voice.json'),
  },
};

/** Loads the translated texts of a subject. On failure, the texts stay in English. */
export async function textsOf(subject: Subject): Promise<(english: string) => string> {
  const load = LOADERS[getLocale()]?.[subject];
  const texts = load ? await load().catch(() => null) : null;
  return (english) => (texts && entryOf(texts.default, english)) ?? english;
}
