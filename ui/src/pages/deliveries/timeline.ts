// Groups the hourly counts of the timeline into bars. Pure functions.
import { WEBHOOKS_STATS_HOURS_MAX } from '../../client/generated/limits';
import type { Params, Result } from '../../client/rpc';
import { isChosen, type Chosen } from '../../parts/period';
import { DAY_MS, HOUR_MS } from '../../parts/units';
import { tookOf, type Took } from './latency';
import { OUTCOMES, type OutcomeId } from './status';

type Bucket = Result<'webhooks.stats'>['buckets'][number];

export interface Bar {
  from_ms: number;
  to_ms: number;
  counts: Record<OutcomeId, number>;
  total: number;
  /** How long completed deliveries took. */
  took: Took | null;
}

/** The longest period of `webhooks.stats` by day. */
const MOST_DAYS = 366;

export type StatsPeriod = Pick<Params<'webhooks.stats'>, 'hours' | 'from' | 'until' | 'bucket'>;

/** The length of the buckets that the gateway returns for a period. */
export const bucketOf = (period: StatsPeriod): 'hour' | 'day' => period.bucket ?? 'hour';

/**
 * Returns the counts of the preceding period, which are shown until the new counts arrive. Returns undefined if their
 * buckets have another length, because their bars would have wrong times.
 */
export const placeholderOf = <Counts>(
  counts: Counts | undefined,
  previous: StatsPeriod | undefined,
  period: StatsPeriod,
): Counts | undefined => (previous && bucketOf(previous) === bucketOf(period) ? counts : undefined);

/**
 * Returns the period of the chart as parameters of `webhooks.stats`. This is the period of the list, but at least a
 * day, so a short period is shown in context. If the list has no period, it is the last day or week.
 */
export function periodOfChart(chosen: Chosen, week: boolean, now_ms: number): StatsPeriod {
  if (!chosen.between) {
    const hours = isChosen(chosen) ? Math.ceil(chosen.within_ms / HOUR_MS) : week ? 168 : 24;
    return { hours: Math.min(WEBHOOKS_STATS_HOURS_MAX, Math.max(24, hours)) };
  }
  const [begin, end] = chosen.between;
  let from = Math.floor(begin / HOUR_MS) * HOUR_MS;
  let until = Math.ceil(end / HOUR_MS) * HOUR_MS;
  if (until - from < DAY_MS) {
    const now = Math.ceil(now_ms / HOUR_MS) * HOUR_MS;
    const after = Math.floor((DAY_MS - (until - from)) / 2 / HOUR_MS) * HOUR_MS;
    until = Math.max(until, Math.min(now, until + after));
    from = until - DAY_MS;
  }
  const bucket = until - from > WEBHOOKS_STATS_HOURS_MAX * HOUR_MS ? 'day' : 'hour';
  from = Math.max(from, until - MOST_DAYS * DAY_MS);
  return { from: new Date(from).toISOString(), until: new Date(until).toISOString(), bucket };
}

/** Returns the number of buckets per bar. There are at most about 30 bars, of 1, 6 or 24 hours, or of days. */
export function bucketsPerBar(count: number, bucket: 'hour' | 'day'): number {
  if (bucket === 'day') return Math.ceil(count / 31);
  return count <= 31 ? 1 : count <= 168 ? 6 : 24;
}

/** Groups `size` buckets each into bars; the newest bar ends with the newest bucket. */
export function barsOf(buckets: readonly Bucket[], size: number, bucket: 'hour' | 'day' = 'hour'): Bar[] {
  const bars: Bar[] = [];
  const first = buckets.length % size;
  for (let at = first - size; at < buckets.length; at += size) {
    const part = buckets.slice(Math.max(0, at), at + size);
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
      to_ms: Date.parse(end.at) + (bucket === 'day' ? DAY_MS : HOUR_MS),
      counts,
      total: Object.values(counts).reduce((sum, count) => sum + count, 0),
      took: tookOf(part.map(({ latency }) => latency)),
    });
  }
  return bars;
}

/** Leading digits for the top of the scale. The highest bar fills at least three quarters of the chart. */
const TOPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** The top of the scale: the smallest round number that is at least `highest` and `least`. */
export function scaleTop(highest: number, least = 1): number {
  if (highest <= least) return least;
  const power = 10 ** Math.floor(Math.log10(highest));
  return TOPS.map((step) => step * power).find((top) => top >= highest) ?? highest;
}

export interface Piece {
  id: OutcomeId;
  /** From the top, in a box of height 100. */
  y: number;
  height: number;
}

/**
 * The minimum height of failures and refusals. They must be visible beside thousands of other
 * deliveries.
 */
const LEAST = 4;

/** Returns the segments of a bar from the bottom up, in a box of height 100 whose top is `top`. */
export function piecesOf(bar: Bar, top: number): Piece[] {
  const parts = OUTCOMES.filter(({ id }) => bar.counts[id] > 0).map(({ id }) => {
    const height = (bar.counts[id] / top) * 100;
    return { id, height: id === 'failed' || id === 'refused' ? Math.max(height, LEAST) : height };
  });
  const over = parts.reduce((sum, { height }) => sum + height, 0) - 100;
  const tallest = parts.toSorted((a, b) => b.height - a.height)[0];
  if (tallest && over > 0) tallest.height -= over;
  let y = 100;
  return parts.map(({ id, height }) => {
    y -= height;
    return { id, y, height };
  });
}

/** The left edge of a bar in the chart, where each bar has a width of 10 with its gap. */
export const leftOf = (at: number): number => at * 10 + 1;

/** The segments of all bars as one path for each outcome, in a box of height 100 whose top is `top`. */
export function pathsOf(bars: readonly Bar[], top: number): { id: Piece['id']; d: string }[] {
  const paths = new Map<Piece['id'], string>();
  for (const [at, bar] of bars.entries())
    for (const { id, y, height } of piecesOf(bar, top))
      paths.set(id, `${paths.get(id) ?? ''}M${leftOf(at)} ${y}h8v${height}h-8z`);
  return [...paths].map(([id, d]) => ({ id, d }));
}

export interface Tick {
  at_ms: number;
  /** From the left, in percent. */
  left: number;
}

/** The minimum length for an axis with weekdays and dates instead of hours. */
export const LONG_MS = 2 * DAY_MS;
export const VERY_LONG_MS = 10 * DAY_MS;

/**
 * Returns the labels of the time axis in local time: every six hours, or every day in a period of more than two days.
 * In a period of more than ten days, there are at most ten labels.
 */
export function ticksOf(from_ms: number, to_ms: number): Tick[] {
  const isLong = to_ms - from_ms > LONG_MS;
  const days = Math.ceil((to_ms - from_ms) / VERY_LONG_MS);
  const ticks: Tick[] = [];
  const at = new Date(from_ms);
  at.setMinutes(0, 0, 0);
  let midnights = 0;
  for (; at.getTime() < to_ms; at.setHours(at.getHours() + 1)) {
    if (at.getHours() % (isLong ? 24 : 6) !== 0) continue;
    if (isLong && midnights++ % days !== 0) continue;
    const left = ((at.getTime() - from_ms) / (to_ms - from_ms)) * 100;
    // A label at the edge would be cut off.
    if (left >= 0 && left <= (isLong ? 90 : 84)) ticks.push({ at_ms: at.getTime(), left });
  }
  return ticks;
}
