// The German texts about senders in src/phrases/de, from `german.json` in the folder of each vendor: `profile` is the ID of
// its profile, `texts` are its description, events, guide and note, and `sentences` are those of its summaries, each by
// the English text.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const VENDORS = new URL('../../crates/sources/src/vendors/', import.meta.url);
const WORDS = new URL('../src/phrases/de/words.json', import.meta.url);

const parsed = (file) => JSON.parse(readFileSync(file, 'utf8'));
const sorted = (map) => Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
const written = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** The two files, as text. Vendors that share an English text have the same translation. */
export function senderGerman(vendors = VENDORS, words = WORDS) {
  const texts = new Map();
  const senders = new Map();
  for (const folder of readdirSync(vendors).sort()) {
    const file = new URL(`${folder}/german.json`, vendors);
    if (!existsSync(fileURLToPath(file))) continue;
    const vendor = parsed(file);
    for (const [english, german] of Object.entries(vendor.texts)) {
      if ((texts.get(english) ?? german) !== german) {
        throw new Error(`${folder}/german.json: another vendor translates "${english}" otherwise`);
      }
      texts.set(english, german);
    }
    if (vendor.sentences) senders.set(vendor.profile, vendor.sentences);
  }
  return { texts: written(sorted(texts)), sentences: written({ ...parsed(words), senders: sorted(senders) }) };
}
