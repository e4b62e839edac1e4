// Matches the entries of the palette with what was typed. Pure functions.

export interface Entry {
  group: string;
  label: string;
  /** Unique within the group. */
  key: string;
  run: () => void;
}

const SHOWN = 50;

const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Entries that contain every word of `q`; those whose label starts with it come first. */
export function find(entries: readonly Entry[], q: string): Entry[] {
  const wanted = plain(q);
  const words = wanted.split(/\s+/).filter(Boolean);
  const all = entries.filter(({ label, group }) => {
    const text = plain(`${label} ${group}`);
    return words.every((word) => text.includes(word));
  });
  const rank = ({ label }: Entry) => (plain(label).startsWith(wanted) ? 0 : 1);
  return (wanted ? all.toSorted((a, b) => rank(a) - rank(b)) : all).slice(0, SHOWN);
}
