// Translates the texts of health checks into the language of the page. Like those of deliveries, the texts are
// sentences with variable parts. The gateway has no list of the texts. A text without a translation stays in English.
import type { Check } from '../client/generated/rpc';
import { getLocale, type Locale } from '../paraglide/runtime.js';
import { translator } from './sentences';

const LOADERS: Partial<Record<Locale, () => Promise<{ default: Record<string, string> }>>> = {
  de: () => import('./de/checks.json'),
};

/** The translated texts of a check. */
export interface Translated {
  message: boolean;
  hint: boolean;
}

/** Loads the translations. If that fails, the texts stay in English. */
export async function checksInWords(): Promise<(check: Check) => Check & { inLanguage?: Translated }> {
  const texts = await LOADERS[getLocale()]?.().catch(() => null);
  if (!texts) return (check) => check;
  const translate = translator({ values: {}, verbs: {}, senders: { checks: texts.default } });
  const say = (text: string) => translate(text, 'checks');
  return (check) => {
    const [message, hint] = [say(check.message), check.hint ? say(check.hint) : null];
    return {
      ...check,
      message: message ?? check.message,
      hint: hint ?? check.hint,
      subjects: check.subjects?.map((one) => ({ ...one, message: say(one.message) ?? one.message })),
      inLanguage: { message: message !== null, hint: hint !== null },
    };
  };
}
