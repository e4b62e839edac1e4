// The query for the known senders and the authentication modes. They change only with the gateway's version.
import { keys } from '../../client/keys';
import { rpc } from '../../client/rpc';

export const profilesQuery = {
  queryKey: keys.profiles,
  queryFn: () => rpc('webhooks.profiles'),
  staleTime: Infinity,
} as const;
