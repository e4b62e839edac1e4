import { expect, it } from 'vitest';
import { changesOf } from './changes';

const text = (count: number, change: Record<number, string> = {}) =>
  Array.from({ length: count }, (_, at) => change[at] ?? `line ${at}`).join('\n');

it('shows changes with the lines around them', () => {
  expect(changesOf(text(20), text(20, { 10: 'other' }))).toEqual([
    { kind: 'gap', skipped: 7 },
    ...[7, 8, 9].map((at) => ({ kind: 'same', text: `line ${at}` })),
    { kind: 'removed', text: 'line 10' },
    { kind: 'added', text: 'other' },
    ...[11, 12, 13].map((at) => ({ kind: 'same', text: `line ${at}` })),
    { kind: 'gap', skipped: 6 },
  ]);
});

it('is empty for equal texts', () => {
  expect(changesOf(text(5), text(5))).toEqual([]);
});
