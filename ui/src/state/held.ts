// What happens to new deliveries while the vault is sealed.
import { keys } from '../client/keys';
import { rpc } from '../client/rpc';

const KEY = 'vault.hold_while_sealed';

/** Whether they are stored until it is unlocked; otherwise they are refused. */
export const heldQuery = {
  queryKey: [...keys.config, KEY],
  queryFn: async () => (await rpc('config.get', { keys: [KEY] })).values[0]?.value === true,
};
