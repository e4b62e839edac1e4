// Returns the query for the payload of the webhook's latest delivery that has a payload. The webhook's form shows it as
// a sample.
import { keys } from '../../client/keys';
import { rpc } from '../../client/rpc';
import { findDelivery } from '../deliveries/search';
import { WITH_PAYLOAD } from '../deliveries/status';

/** `id` is the ID of the webhook. A new webhook has no delivery. */
export const latestPayload = (id: string | undefined) => ({
  queryKey: [...keys.deliveries, 'latest payload', id ?? ''],
  enabled: id !== undefined,
  queryFn: async () => {
    const list = { id: id ?? '', statuses: WITH_PAYLOAD };
    const { found } = await findDelivery((at) => rpc('webhooks.deliveries', { ...list, ...at }), { first: 1 });
    if (!found) return null;
    const stored = await rpc('webhooks.delivery.payload', { id: found.id });
    return 'payload' in stored ? { id: found.id, payload: stored.payload } : null;
  },
  // If the payload is missing or unreadable, the caller uses the sample of the sender's profile.
  retry: false,
});
