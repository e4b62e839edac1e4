// Texts that the gateway describes itself with, in the language of the page, by the English text. A text without a
// translation stays as it is.
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

/** Loads the texts of a subject. If that fails, they stay in English. */
export async function textsOf(subject: Subject): Promise<(english: string) => string> {
  const load = LOADERS[getLocale()]?.[subject];
  const texts = load ? await load().catch(() => null) : null;
  return (english) => (texts && entryOf(texts.default, english)) ?? english;
}
