// Matches the entries of the palette with what was typed. Pure functions.
import { folded, hasWords } from '../parts/folded';

export interface Entry {
  group: string;
  label: string;
  /** Further search words for the entry. */
  words?: string;
  /** Unique within the group. */
  key: string;
  run: () => void;
}

const SHOWN = 50;

/**
 * Returns the entries that contain every word of `q`. Entries whose label starts with `q` come first, then entries
 * whose label contains it.
 */
export function find(entries: readonly Entry[], q: string): Entry[] {
  const wanted = folded(q);
  const all = entries.filter(({ label, group, words = '' }) => hasWords(`${label} ${group} ${words}`, q));
  const rank = ({ label }: Entry) => {
    const at = folded(label).indexOf(wanted);
    return at < 0 ? 2 : Math.min(at, 1);
  };
  return (wanted ? all.toSorted((a, b) => rank(a) - rank(b)) : all).slice(0, SHOWN);
}
