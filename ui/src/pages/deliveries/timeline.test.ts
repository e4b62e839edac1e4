import { expect, it } from 'vitest';
import { barsOf, scaleTop } from './timeline';

const HOUR = 3_600_000;
const bucket = (hour: number, counts: Record<string, number> = {}) => ({
  at: new Date(hour * HOUR).toISOString(),
  ...counts,
});

it('puts hours together from the newest back', () => {
  const buckets = Array.from({ length: 7 }, (_, hour) => bucket(hour, { completed: hour, failed: 1, deduplicated: 2 }));
  const bars = barsOf(buckets, 3);
  expect(bars.map((bar) => [bar.from_ms / HOUR, bar.to_ms / HOUR])).toEqual([
    [0, 1],
    [1, 4],
    [4, 7],
  ]);
  expect(bars[2]?.counts).toEqual({ done: 15, waiting: 0, failed: 3, refused: 0, skipped: 6 });
  expect(bars[2]?.total).toBe(24);
  expect(barsOf([], 1)).toEqual([]);
});

it('has round tops', () => {
  expect([0, 1, 2, 3, 7, 11, 99, 2001].map(scaleTop)).toEqual([1, 1, 2, 5, 10, 20, 100, 5000]);
});
