// Matches the entries of the palette with what was typed. Pure functions.
import { folded, hasWords } from '../parts/folded';

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

/** Entries that contain every word of `q`; those whose label starts with it come first, then those whose label has it. */
export function find(entries: readonly Entry[], q: string): Entry[] {
  const wanted = folded(q);
  const all = entries.filter(({ label, group, words = '' }) => hasWords(`${label} ${group} ${words}`, q));
  const rank = ({ label }: Entry) => {
    const at = folded(label).indexOf(wanted);
    return at < 0 ? 2 : Math.min(at, 1);
  };
  return (wanted ? all.toSorted((a, b) => rank(a) - rank(b)) : all).slice(0, SHOWN);
}
