// How deliveries are told: whether one is over, and how many of late went wrong.
import type { DeliveryStats, DeliveryStatus } from '../../../client/generated/rpc';
import { STATUSES } from '../../deliveries/status';

/** Whether nothing more becomes of a delivery. */
export const isOver = (status: DeliveryStatus): boolean => !['received', 'queued', 'processing'].includes(status);

/** Sums over the hours: all that came, and how much of what was worked on failed. */
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
