// Translates the gateway's reasons why a delivery failed or waits, why a channel receives no messages or not all of
// them, and why an MCP server does not work. Like the texts of health checks, the reasons are sentences with variable
// parts. The gateway has no list of them. A text without a translation stays in English.
import { getLocale, type Locale } from '../paraglide/runtime.js';
import { translator, type Sentences } from './sentences';

const LOADERS: Partial<Record<Locale, () => Promise<{ default: Sentences }>>> = {
  de: () => import('./de/failures.json'),
};

let translate = $state.raw<((sentence: string) => string | null) | null>(null);
let loading: Promise<void> | null = null;

async function load(): Promise<void> {
  try {
    const texts = await LOADERS[getLocale()]?.();
    if (!texts) return;
    const say = translator(texts.default);
    translate = (sentence) => say(sentence, 'failures');
  } catch {
    // The next sentence retries.
    loading = null;
  }
}

/** Loads the translations. If that fails, the sentences stay in English. */
export const failuresLoaded = (): Promise<void> => (loading ??= load());

/** The gateway adds the number of attempts to the last failure. */
const TRIED = /^(?<why>.+) (?<tried>It was tried \d+ times\.)$/s;

/**
 * Returns the sentence in the language of the page, or in English until its translations are
 * loaded.
 */
export function toldFailure(sentence: string): string {
  void failuresLoaded();
  const say = (text: string) => translate?.(text) ?? text;
  const { why, tried } = TRIED.exec(sentence)?.groups ?? {};
  return why && tried ? `${say(why)} ${say(tried)}` : say(sentence);
}
