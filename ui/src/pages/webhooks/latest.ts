// The query for the payload of a webhook's latest delivery that has one, a sample for its form.
import { keys } from '../../client/keys';
import { rpc } from '../../client/rpc';
import { firstOf } from '../deliveries/first';
import type { Status } from '../deliveries/status';

/** The payload of a delivery that was refused, filtered or a duplicate is not stored. */
const STORED: Status[] = ['queued', 'processing', 'completed', 'failed'];

/** `id` is the webhook's; a new one has no delivery. */
export const latestPayload = (id: string | undefined) => ({
  queryKey: [...keys.deliveries, 'latest payload', id ?? ''],
  enabled: id !== undefined,
  queryFn: async () => {
    const one = await firstOf((cursor) =>
      rpc('webhooks.deliveries', { id: id ?? '', statuses: STORED, limit: 1, cursor }),
    );
    if (!one) return null;
    const stored = await rpc('webhooks.delivery.payload', { id: one.id });
    return 'payload' in stored ? { id: one.id, payload: stored.payload } : null;
  },
  // If it is missing or unreadable, the sender's sample is used.
  retry: false,
});
