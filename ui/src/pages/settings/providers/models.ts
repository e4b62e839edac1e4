// The models that can be chosen. Providers are asked for them, so the answer is kept a while.
import { keys } from '../../../client/keys';
import { everyPage } from '../../../client/pages';
import { rpc } from '../../../client/rpc';

/** The query for them. */
export const allModels = () => ({
  queryKey: [...keys.models, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('models.list', at))).flatMap((page) => page.models),
  staleTime: 60_000,
});
