// Labels of the records that use models or have budgets, by kind.
import { createQuery } from '@tanstack/svelte-query';
import { http } from '../../../client/http';
import { keys } from '../../../client/keys';
import { everyPage } from '../../../client/pages';
import { rpc } from '../../../client/rpc';

interface Labeled {
  id: string;
  label: string;
}

export function createUsageNames() {
  const agents = createQuery(() => ({
    queryKey: [...keys.agents, 'all'],
    queryFn: async () => (await everyPage((at) => rpc('agents.list', at))).flatMap((page) => page.agents),
  }));
  const webhooks = createQuery(() => ({
    queryKey: [...keys.webhooks, 'all'],
    queryFn: async () => (await everyPage((at) => rpc('webhooks.list', at))).flatMap((page) => page.webhooks),
  }));
  const apiKeys = createQuery(() => ({ queryKey: keys.apiKeys, queryFn: () => http('get', '/api/auth/api-keys') }));
  const named = ({ id, name }: { id: string; name: string }): Labeled => ({ id, label: name });
  return {
    get all(): Record<string, Labeled[]> {
      return {
        agent: (agents.data ?? []).map(named),
        webhook: (webhooks.data ?? []).map(named),
        key: (apiKeys.data?.api_keys ?? []).map(({ id, label }) => ({ id, label })),
      };
    },
  };
}
