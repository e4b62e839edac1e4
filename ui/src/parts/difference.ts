// The difference of two texts by lines.
import { diffLines } from 'diff';

export interface Line {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

export function differenceOf(before: string, after: string): Line[] {
  const whole = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
  return diffLines(whole(before), whole(after)).flatMap(({ value, added, removed }) => {
    const kind = added ? 'added' : removed ? 'removed' : 'same';
    return value
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => ({ kind, text }) as const);
  });
}
