// Computes the difference of two payloads, with the lines around each change. Pure functions.
import { differenceOf, type Line } from '../../parts/difference';

/** A line, or a placeholder for `skipped` equal lines. */
export type Shown = Line | { kind: 'gap'; skipped: number };

/** Lines shown before and after a change. */
const AROUND = 3;
/** The maximum length of a compared text. Comparing longer texts would block the page. */
export const MAX_CHARACTERS = 100_000;

/** The changed lines and those around them; empty if the texts are equal. */
export function changesOf(before: string, after: string): Shown[] {
  const lines = differenceOf(before, after);
  const near = new Set<number>();
  lines.forEach(({ kind }, at) => {
    if (kind !== 'same') for (let one = at - AROUND; one <= at + AROUND; one++) near.add(one);
  });
  if (near.size === 0) return [];
  const shown: Shown[] = [];
  lines.forEach((line, at) => {
    const last = shown.at(-1);
    if (near.has(at)) shown.push(line);
    else if (last?.kind === 'gap') last.skipped += 1;
    else shown.push({ kind: 'gap', skipped: 1 });
  });
  return shown;
}
