// Groups the hourly counts of the timeline into bars. Pure functions.
import type { Result } from '../../client/rpc';
import { tookOf, type Took } from './latency';
import { OUTCOMES, type OutcomeId } from './status';

type Bucket = Result<'webhooks.stats'>['buckets'][number];

export interface Bar {
  from_ms: number;
  to_ms: number;
  counts: Record<OutcomeId, number>;
  total: number;
  /** How long the completed ones took. */
  took: Took | null;
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
      took: tookOf(part.map(({ latency }) => latency)),
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

export interface Piece {
  id: OutcomeId;
  /** From the top, in a box of height 100. */
  y: number;
  height: number;
}

/** The least height of failures and refusals: they must be seen beside thousands of others. */
const LEAST = 4;

/** The segments of a bar from the bottom up, in a box of height 100 whose top is `top`. */
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

/** The labels of the time axis: every six hours, or every day in a period of more than two days. In local time. */
export function ticksOf(from_ms: number, to_ms: number): Tick[] {
  const hours = to_ms - from_ms > 48 * HOUR_MS ? 24 : 6;
  const ticks: Tick[] = [];
  const at = new Date(from_ms);
  at.setMinutes(0, 0, 0);
  for (; at.getTime() < to_ms; at.setHours(at.getHours() + 1)) {
    const left = ((at.getTime() - from_ms) / (to_ms - from_ms)) * 100;
    // A label at the edge would be cut off.
    if (at.getHours() % hours === 0 && left >= 0 && left <= (hours === 24 ? 90 : 84))
      ticks.push({ at_ms: at.getTime(), left });
  }
  return ticks;
}
