// The webhooks by name, for the list, the filters and the detail.
import { keys } from '../../client/keys';
import { rpc } from '../../client/rpc';

export interface Named {
  id: string;
  public_id: string;
  name: string;
  source_profile: string;
  enabled: boolean;
  deliver_only: boolean;
  deliver_to: string | null;
}

async function all(): Promise<Named[]> {
  const found: Named[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof rpc<'webhooks.list'>>> = await rpc('webhooks.list', { limit: 500, cursor });
    for (const { id, public_id, name, source_profile, enabled, deliver_only, deliver_to } of page.webhooks) {
      found.push({ id, public_id, name, source_profile, enabled, deliver_only, deliver_to: deliver_to ?? null });
    }
    cursor = page.next_cursor ?? null;
  } while (cursor);
  return found;
}

export const namesQuery = () => ({ queryKey: [...keys.webhooks, 'names'], queryFn: all });
