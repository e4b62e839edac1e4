// Sums of the hourly counts. Pure functions.
import type { Result } from '../../client/rpc';
import { OUTCOMES, type OutcomeId } from '../deliveries/status';

type Bucket = Result<'webhooks.stats'>['buckets'][number];

/** Deliveries of all buckets by outcome. */
export function countsOf(buckets: readonly Bucket[]): Record<OutcomeId, number> {
  const counts = { done: 0, waiting: 0, failed: 0, refused: 0, skipped: 0 };
  for (const bucket of buckets) {
    for (const { id, statuses } of OUTCOMES) {
      for (const status of statuses) counts[id] += Number(bucket[status] ?? 0);
    }
  }
  return counts;
}
