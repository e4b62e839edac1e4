// The webhooks with their names, for the list of deliveries, its filters and the page of a delivery.
import { LIST_LIMIT_MAX } from '../../client/generated/limits';
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
  agent: string | null;
  auth_mode: string;
  /** Null for a schedule. */
  url: string | null;
}

async function all(): Promise<Named[]> {
  const found: Named[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof rpc<'webhooks.list'>>> = await rpc('webhooks.list', {
      limit: LIST_LIMIT_MAX,
      cursor,
    });
    for (const webhook of page.webhooks) {
      const { id, public_id, name, source_profile, enabled, deliver_only, auth_mode } = webhook;
      const url = webhook.url ?? null;
      const [deliver_to, agent] = [webhook.deliver_to ?? null, webhook.agent ?? null];
      found.push({ id, public_id, name, source_profile, enabled, deliver_only, deliver_to, agent, auth_mode, url });
    }
    cursor = page.next_cursor ?? null;
  } while (cursor);
  return found;
}

export const namesQuery = () => ({ queryKey: [...keys.webhooks, 'names'], queryFn: all });
