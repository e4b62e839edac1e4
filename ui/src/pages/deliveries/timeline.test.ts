import { expect, it } from 'vitest';
import { WEBHOOKS_STATS_HOURS_MAX } from '../../client/generated/limits';
import { ALWAYS } from '../../parts/period';
import { HOUR_MS as HOUR } from '../../parts/units';
import { barsOf, bucketsPerBar, pathsOf, periodOfChart, piecesOf, placeholderOf, scaleTop, ticksOf } from './timeline';

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
  expect([0, 1, 2, 3, 7, 11, 99, 2001].map((one) => scaleTop(one))).toEqual([1, 1, 2, 3, 8, 12, 100, 2500]);
  expect(scaleTop(0.042, 0.01)).toBeCloseTo(0.05);
});

it('shows failures beside thousands, without a bar that is higher than the chart', () => {
  const counts = { done: 9999, waiting: 0, failed: 1, refused: 0, skipped: 0 };
  const pieces = piecesOf({ from_ms: 0, to_ms: HOUR, counts, total: 10_000, took: null }, 10_000);
  expect(pieces.map(({ id }) => id)).toEqual(['done', 'failed']);
  expect(pieces[1]?.height).toBeGreaterThanOrEqual(4);
  expect(pieces[1]?.y).toBeCloseTo(0);
});

it('draws all bars of an outcome as one path', () => {
  const bars = barsOf([bucket(0, { completed: 2 }), bucket(1, {}), bucket(2, { completed: 1, failed: 1 })], 1);
  expect(pathsOf(bars, 2)).toEqual([
    { id: 'done', d: 'M1 0h8v100h-8zM21 50h8v50h-8z' },
    { id: 'failed', d: 'M21 0h8v50h-8z' },
  ]);
  expect(pathsOf([], 1)).toEqual([]);
});

it('labels the hours of a day and the days of a week', () => {
  const begin = new Date(2026, 10, 21, 17).getTime();
  const hours = ticksOf(begin, begin + 24 * HOUR).map(({ at_ms }) => new Date(at_ms).getHours());
  expect(hours).toEqual([18, 0, 6, 12]);
  const days = ticksOf(begin, begin + 168 * HOUR).map(({ at_ms }) => new Date(at_ms).getDate());
  expect(days).toEqual([22, 23, 24, 25, 26, 27, 28]);
  expect(ticksOf(0, 0)).toEqual([]);
});

it('shows the period of the list, with at least a day', () => {
  const now = 1000 * HOUR + 5;
  const iso = (hour: number) => new Date(hour * HOUR).toISOString();
  const between = (from: number, until: number) => ({ within_ms: 0, between: [from * HOUR, until * HOUR] as const });
  const within = (hours: number) => ({ within_ms: hours * HOUR, between: null });
  expect(periodOfChart(ALWAYS, false, now)).toEqual({ hours: 24 });
  expect(periodOfChart(ALWAYS, true, now)).toEqual({ hours: 168 });
  expect([1, 24, 168, 720].map((hours) => periodOfChart(within(hours), true, now).hours)).toEqual([24, 24, 168, 720]);
  expect(periodOfChart(between(500.5, 540.1), false, now)).toEqual({ from: iso(500), until: iso(541), bucket: 'hour' });
  // A short period has the same time before and after it, but no future.
  expect(periodOfChart(between(500, 502), false, now)).toEqual({ from: iso(489), until: iso(513), bucket: 'hour' });
  expect(periodOfChart(between(998, 1000), false, now)).toEqual({ from: iso(977), until: iso(1001), bucket: 'hour' });
  expect(periodOfChart(between(100, 820), false, now).bucket).toBe('hour');
  expect(periodOfChart(between(100, 821), false, now).bucket).toBe('day');
  const years = periodOfChart(between(-20_000, 0), false, now);
  expect(years.from).toBe(iso(-366 * 24));
});

it('has about 30 bars in a period of any length', () => {
  expect([24, 31, 32, 168, 169, 720].map((count) => bucketsPerBar(count, 'hour'))).toEqual([1, 1, 6, 6, 24, 24]);
  expect([31, 32, 366].map((count) => bucketsPerBar(count, 'day'))).toEqual([1, 2, 12]);
  const days = [0, 24, 48].map((hour) => bucket(hour, { completed: 1 }));
  expect(barsOf(days, 2, 'day').map((bar) => [bar.from_ms / HOUR, bar.to_ms / HOUR])).toEqual([
    [0, 24],
    [24, 72],
  ]);
});

it('has at most ten labels', () => {
  for (const days of [11, 30, 366]) expect(ticksOf(0, days * 24 * HOUR).length).toBeLessThanOrEqual(10);
});

it('keeps the counts of the previous period only if their buckets are as long', () => {
  const begin = Date.UTC(2026, 0, 1);
  const period = (hours: number) => periodOfChart({ ...ALWAYS, between: [begin, begin + hours * HOUR] }, false, begin);
  // The longest period in hours, and one hour more, which is in days.
  const [hours, days] = [period(WEBHOOKS_STATS_HOURS_MAX), period(WEBHOOKS_STATS_HOURS_MAX + 1)];
  const week = periodOfChart(ALWAYS, true, begin);
  expect(placeholderOf('counts', week, hours)).toBe('counts');
  expect(placeholderOf('counts', hours, week)).toBe('counts');
  expect(placeholderOf('counts', days, days)).toBe('counts');
  expect(placeholderOf('counts', hours, days)).toBeUndefined();
  expect(placeholderOf('counts', days, hours)).toBeUndefined();
  expect(placeholderOf('counts', days, week)).toBeUndefined();
  expect(placeholderOf('counts', undefined, week)).toBeUndefined();
});
