// The query for all budgets, shared by the settings and the overview.
import { keys } from '../../../client/keys';
import { everyPage } from '../../../client/pages';
import { rpc } from '../../../client/rpc';

export const budgetsQuery = {
  queryKey: keys.budgets,
  queryFn: async () => (await everyPage((at) => rpc('budgets.list', at))).flatMap((page) => page.budgets),
};
