// The sentences of deliveries in the language of the page. What is needed for it is loaded when the first sentence is shown;
// until then, it is in English.
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
    // The next sentence tries again.
    loading = false;
  }
}

/** The sentence of a delivery. `sender` is the profile of its webhook; null if it is not known. */
export function told(sentence: string, sender: string | null): string {
  if (!sender) return sentence;
  void load();
  return translate?.(sentence, sender) ?? sentence;
}

/** Profiles by the ID and by the public ID of the webhook. */
let senders = $state.raw<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();

async function loadSenders(webhook: string): Promise<void> {
  // A webhook that is gone is not asked for again.
  if (asked.has(webhook)) return;
  asked.add(webhook);
  try {
    const pages = await everyPage((at) => rpc('webhooks.list', at));
    const all = pages.flatMap((page) => page.webhooks);
    senders = new Map(
      all.flatMap(({ id, public_id, source_profile }) => [
        [id, source_profile],
        [public_id, source_profile],
      ]),
    );
    for (const id of senders.keys()) asked.add(id);
  } catch {
    asked.delete(webhook);
  }
}

/** The sentence of a delivery to the webhook with this ID or public ID. */
export function toldBy(sentence: string, webhook: string): string {
  if (!LOADERS[getLocale()]) return sentence;
  void loadSenders(webhook);
  return told(sentence, senders.get(webhook) ?? null);
}
