import type { DeliveryStats, DeliveryStatus } from '../../client/generated/rpc';
import { STATUSES } from '../deliveries/status';

/**
 * Returns the totals over all buckets of all, failed and rejected deliveries, and the failure rate
 * of completed work.
 */
export function totals(stats: DeliveryStats): { all: number; failed: number; rejected: number; rate: number | null } {
  const sum = (...names: DeliveryStatus[]) =>
    stats.buckets.reduce(
      (total, bucket) => total + names.reduce((count, name) => count + Number(bucket[name] ?? 0), 0),
      0,
    );
  const failed = sum('failed');
  const ended = failed + sum('completed');
  return {
    all: sum(...STATUSES),
    failed,
    rejected: sum('rejected'),
    rate: ended === 0 ? null : failed / ended,
  };
}
