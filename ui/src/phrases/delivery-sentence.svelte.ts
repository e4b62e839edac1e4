// The sentences of deliveries in the language of the page. The required texts are loaded when the first sentence is
// shown; until then, it is in English.
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
 * The sentence of a delivery. `sender` is the profile of its webhook; null if it is not known. `isLabel`: a person can have
 * written it instead.
 */
export function deliverySentence(sentence: string, sender: string | null, isLabel = false): string {
  if (!sender) return sentence;
  void load();
  return translate?.(sentence, sender, isLabel) ?? sentence;
}

/** Profiles by the ID and by the public ID of the webhook. */
let senders = $state.raw<ReadonlyMap<string, string>>(new Map());
/** Webhooks that the last list did not have. They are not asked for again. */
const gone = new Set<string>();
let asking: Promise<ReadonlyMap<string, string> | null> | null = null;

/** Asks for the profiles of all webhooks. Null if that fails. */
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
  // A list of sessions asks for all of its webhooks at the same time.
  asking ??= askForSenders();
  const found = await asking;
  if (found && !found.has(webhook)) gone.add(webhook);
}

/** The sentence of a delivery to the webhook with this ID or public ID. `isLabel`: as for `deliverySentence`. */
export function deliverySentenceOf(sentence: string, webhook: string, isLabel = false): string {
  if (!LOADERS[getLocale()]) return sentence;
  void loadSenders(webhook);
  return deliverySentence(sentence, senders.get(webhook) ?? null, isLabel);
}
