// Matches the entries of the palette with what was typed. Pure functions.

export interface Entry {
  group: string;
  label: string;
  /** Further words to find it by. */
  words?: string;
  /** Unique within the group. */
  key: string;
  run: () => void;
}

const SHOWN = 50;

const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Entries that contain every word of `q`; those whose label starts with it come first, then those whose label has it. */
export function find(entries: readonly Entry[], q: string): Entry[] {
  const wanted = plain(q);
  const words = wanted.split(/\s+/).filter(Boolean);
  const all = entries.filter(({ label, group, words: more = '' }) => {
    const text = plain(`${label} ${group} ${more}`);
    return words.every((word) => text.includes(word));
  });
  const rank = ({ label }: Entry) => {
    const at = plain(label).indexOf(wanted);
    return at < 0 ? 2 : Math.min(at, 1);
  };
  return (wanted ? all.toSorted((a, b) => rank(a) - rank(b)) : all).slice(0, SHOWN);
}
