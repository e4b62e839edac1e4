// Groups the hourly counts of the timeline into bars. Pure functions.
import type { Result } from '../../client/rpc';
import { OUTCOMES, type OutcomeId } from './status';

type Bucket = Result<'webhooks.stats'>['buckets'][number];

export interface Bar {
  from_ms: number;
  to_ms: number;
  counts: Record<OutcomeId, number>;
  total: number;
}

const HOUR_MS = 3_600_000;

/** Groups buckets into bars of `hours` hours each; the newest bar ends with the newest bucket. */
export function barsOf(buckets: readonly Bucket[], hours: number): Bar[] {
  const bars: Bar[] = [];
  const first = buckets.length % hours;
  for (let at = first - hours; at < buckets.length; at += hours) {
    const part = buckets.slice(Math.max(0, at), at + hours);
    const [begin, end] = [part[0], part.at(-1)];
    if (!begin || !end) continue;
    const counts = { done: 0, waiting: 0, failed: 0, refused: 0, skipped: 0 };
    for (const bucket of part) {
      for (const { id, statuses } of OUTCOMES) {
        for (const status of statuses) counts[id] += Number(bucket[status] ?? 0);
      }
    }
    bars.push({
      from_ms: Date.parse(begin.at),
      to_ms: Date.parse(end.at) + HOUR_MS,
      counts,
      total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    });
  }
  return bars;
}

/** The top of the scale: the smallest of 1, 2, 5, 10, 20, 50 … that is at least `highest`. */
export function scaleTop(highest: number): number {
  if (highest <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= highest) ?? highest;
}
