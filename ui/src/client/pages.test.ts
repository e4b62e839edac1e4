import { expect, test, vi } from 'vitest';

/** How many entries the gateway has. */
const length = vi.hoisted(() => ({ now: 0 }));
vi.mock('./rpc', () => ({
  rpc: (method: string, { limit, cursor }: { limit: number; cursor: string | null }) => {
    const start = Number(cursor ?? 0);
    const end = Math.min(start + limit, length.now);
    const entries = Array.from({ length: end - start }, (_, at) => ({ name: `${start + at}` }));
    const list = method === 'backup.list' ? 'backups' : method.replace('.list', '');
    return Promise.resolve({ [list]: entries, next_cursor: end < length.now ? String(end) : null });
  },
}));

import { backupsQuery } from '../pages/settings/system/backups';
import { budgetsQuery } from '../pages/settings/usage/budgets';
import { LIST_LIMIT_MAX } from './generated/limits';
import { allAgents, allChannels, allModels, allProviders, allWebhooks } from './lists';

const LISTS = {
  agents: allAgents.queryFn,
  backups: backupsQuery.queryFn,
  budgets: budgetsQuery.queryFn,
  channels: allChannels.queryFn,
  models: allModels().queryFn,
  providers: allProviders.queryFn,
  webhooks: allWebhooks.queryFn,
};

for (const [name, read] of Object.entries(LISTS)) {
  test(`all ${name} are read, also those beyond one page`, async () => {
    for (const count of [0, LIST_LIMIT_MAX, LIST_LIMIT_MAX + 1, 2 * LIST_LIMIT_MAX + 1]) {
      length.now = count;
      expect(await read()).toHaveLength(count);
    }
  });
}
