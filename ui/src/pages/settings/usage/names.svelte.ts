// Labels of the records that use models or have budgets, by kind.
import { createQuery } from '@tanstack/svelte-query';
import { http } from '../../../client/http';
import { keys } from '../../../client/keys';
import { allAgents, allWebhooks } from '../../../client/lists';

interface Labeled {
  id: string;
  label: string;
}

export function createUsageNames() {
  const agents = createQuery(() => allAgents);
  const webhooks = createQuery(() => allWebhooks);
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
