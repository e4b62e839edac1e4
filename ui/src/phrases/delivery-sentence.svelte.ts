// Translates the sentences of deliveries into the language of the page. The required texts are loaded when the first
// sentence is shown. Until then, the sentence is in English.
import { everyPage } from '../client/pages';
import { rpc } from '../client/rpc';
import { getLocale, type Locale } from '../paraglide/runtime.js';
import { translator, type Sentences, type Translate } from './sentences';

const LOADERS: Partial<Record<Locale, () => Promise<{ default: Sentences }>>> = {
  de: () => import('./de/sentences.json'),
};

let translate = $state.raw<Translate | null>(null);
let loading = false;

async function load(): Promise<void> {
  const from = LOADERS[getLocale()];
  if (!from || loading) return;
  loading = true;
  try {
    translate = translator((await from()).default);
  } catch {
    // The next sentence retries.
    loading = false;
  }
}

/**
 * Returns the sentence of a delivery. `sender` is the profile of its webhook, or null if unknown. `isLabel` means that
 * a person may have written the text.
 */
export function deliverySentence(sentence: string, sender: string | null, isLabel = false): string {
  if (!sender) return sentence;
  void load();
  return translate?.(sentence, sender, isLabel) ?? sentence;
}

/** Profiles by the ID and the public ID of the webhook. */
let senders = $state.raw<ReadonlyMap<string, string>>(new Map());
/** Webhooks that were missing in the last list. They are not requested again. */
const gone = new Set<string>();
let asking: Promise<ReadonlyMap<string, string> | null> | null = null;

/** Requests the profiles of all webhooks. Returns null on failure. */
async function askForSenders(): Promise<ReadonlyMap<string, string> | null> {
  try {
    const pages = await everyPage((at) => rpc('webhooks.list', at));
    const all = pages.flatMap((page) => page.webhooks);
    senders = new Map(
      all.flatMap(({ id, public_id, source_profile }) => [
        [id, source_profile],
        [public_id, source_profile],
      ]),
    );
    return senders;
  } catch {
    // The next sentence retries.
    return null;
  } finally {
    asking = null;
  }
}

async function loadSenders(webhook: string): Promise<void> {
  if (senders.has(webhook) || gone.has(webhook)) return;
  // The sessions of a list request all profiles at the same time and share one request.
  asking ??= askForSenders();
  const found = await asking;
  if (found && !found.has(webhook)) gone.add(webhook);
}

/**
 * Returns the sentence of a delivery to the webhook with this ID or public ID. `isLabel` is the same as for
 * `deliverySentence`.
 */
export function deliverySentenceOf(sentence: string, webhook: string, isLabel = false): string {
  if (!LOADERS[getLocale()]) return sentence;
  void loadSenders(webhook);
  return deliverySentence(sentence, senders.get(webhook) ?? null, isLabel);
}
