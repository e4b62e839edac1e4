// Computes how long deliveries took, from the histograms of several hours. Pure functions.
import type { Result } from '../../client/rpc';

export type Latency = NonNullable<Result<'webhooks.stats'>['latency']>;

export interface Took {
  mean_ms: number;
  /** The duration that 95 % did not exceed, approximately. */
  p95_ms: number;
}

/**
 * The end of the highest bucket. Bucket `4` begins at 0, and each other bucket begins at half of
 * its end. `over` begins at the highest end.
 */
const LAST_MS = 524_288;
const beginOf = (end: string): number => (end === 'over' ? LAST_MS : end === '4' ? 0 : Number(end) / 2);

/** Null without any delivery. */
export function tookOf(latencies: readonly (Latency | null | undefined)[]): Took | null {
  const counts = new Map<string, number>();
  let sum_ms = 0;
  let count = 0;
  for (const latency of latencies) {
    if (!latency) continue;
    const here = Object.values(latency.histogram).reduce((sum, one) => sum + one, 0);
    sum_ms += latency.mean_ms * here;
    count += here;
    for (const [end, one] of Object.entries(latency.histogram)) counts.set(end, (counts.get(end) ?? 0) + one);
  }
  if (count === 0) return null;
  return { mean_ms: Math.round(sum_ms / count), p95_ms: percentile(counts, Math.ceil(count * 0.95)) };
}

function percentile(counts: Map<string, number>, rank: number): number {
  let before = 0;
  for (const [end, here] of [...counts].toSorted(([a], [b]) => beginOf(a) - beginOf(b))) {
    const begin = beginOf(end);
    if (before + here >= rank) {
      return end === 'over' ? begin : Math.floor(begin + ((Number(end) - begin) * (rank - before)) / here);
    }
    before += here;
  }
  return LAST_MS;
}
