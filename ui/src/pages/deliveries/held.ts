// The deliveries that a restored backup holds until the owner releases them.
import { keys } from '../../client/keys';
import { rpc } from '../../client/rpc';

/** The list of them. */
export const HELD_BACK = '/deliveries?restored=1';

/** Their number. */
export const heldBackQuery = {
  queryKey: [...keys.deliveries, 'held'],
  queryFn: async () => (await rpc('webhooks.deliveries', { to_release: true, limit: 1 })).to_release ?? 0,
};
