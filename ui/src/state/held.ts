// Whether new deliveries are stored while the vault is sealed.
import { keys } from '../client/keys';
import { rpc } from '../client/rpc';

const KEY = 'vault.hold_while_sealed';

/**
 * The query is true if deliveries are stored until the vault is unlocked, and false if they are refused.
 */
export const heldQuery = {
  queryKey: [...keys.config, KEY],
  queryFn: async () => (await rpc('config.get', { keys: [KEY] })).values[0]?.value === true,
};
