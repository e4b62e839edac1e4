// Finds the webhook that a request without an answer created.
import { everyPage } from '../../client/pages';
import { rpc } from '../../client/rpc';
import { MINUTE_MS } from '../../parts/units';

/** Returns the ID of the newest webhook with this name that was created since, or null. */
export async function madeSince(name: string, since_ms: number): Promise<string | null> {
  const webhooks = (await everyPage((at) => rpc('webhooks.list', at))).flatMap((page) => page.webhooks);
  // Allows for clock differences of up to a minute.
  const one = webhooks.findLast((made) => made.name === name && Date.parse(made.created_at) > since_ms - MINUTE_MS);
  return one?.id ?? null;
}
