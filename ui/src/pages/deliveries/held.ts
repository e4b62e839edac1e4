// The deliveries that a restored backup holds until the owner releases them.
import { keys } from '../../client/keys';
import { rpc } from '../../client/rpc';

/** The page that lists these deliveries. */
export const HELD_BACK = '/deliveries?restored=1';

const WAITS_FOR_RELEASE = 'Restored from a backup. Waits until it is released.';

export const isHeldBack = (delivery: { error?: string | null } | undefined): boolean =>
  delivery?.error === WAITS_FOR_RELEASE;

/**
 * The number of held deliveries. It does not follow delivery events: to count, the gateway reads all deliveries that
 * wait behind another one, and new deliveries are never held. While there are held deliveries, the number is read
 * again, because another window may release them.
 */
export const heldBackQuery = {
  queryKey: keys.heldBack,
  refetchInterval: ({ state }: { state: { data?: number } }) => (state.data ? 10_000 : false),
  queryFn: async () => (await rpc('webhooks.deliveries', { to_release: true, limit: 1 })).to_release ?? 0,
};
