// The paginated query for paired devices, shared by two components.
import { keys } from '../../../client/keys';
import { rpc } from '../../../client/rpc';

export const devicePages = {
  queryKey: keys.devices,
  queryFn: ({ pageParam }: { pageParam: string | null }) => rpc('pairing.list', { limit: 50, cursor: pageParam }),
  initialPageParam: null as string | null,
  getNextPageParam: (last: { next_cursor?: string | null }) => last.next_cursor ?? null,
};
