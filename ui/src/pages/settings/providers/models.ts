// The query for all models. The gateway queries every provider, so the answer is cached for a minute.
import { keys } from '../../../client/keys';
import { everyPage } from '../../../client/pages';
import { rpc } from '../../../client/rpc';

export const allModels = () => ({
  queryKey: [...keys.models, 'all'],
  queryFn: async () => (await everyPage((at) => rpc('models.list', at))).flatMap((page) => page.models),
  staleTime: 60_000,
});
