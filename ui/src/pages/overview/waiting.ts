// Finds deliveries that have waited for long.
import { LIST_LIMIT_MAX } from '../../client/generated/limits';
import { rpc, type Result } from '../../client/rpc';
import { HOUR_MS } from '../../parts/units';
import { isHeldBack } from '../deliveries/held';

/** The wait after which a delivery is listed. */
const LONG_WAIT_MS = HOUR_MS;
/** The size of the first page, which is enough in most cases. */
const FEW = 50;
/** How many pages are read. */
const MAX_PAGES = 20;

/**
 * Returns whether a delivery has waited for long, although neither a restored backup nor one of these paused webhooks
 * holds it. Held deliveries have separate lines. Reads about 10,000 deliveries if all of them are held.
 */
export async function waitsLong(paused: readonly string[], now_ms: number): Promise<boolean> {
  const filter = {
    statuses: ['received' as const, 'queued' as const],
    until: new Date(now_ms - LONG_WAIT_MS).toISOString(),
  };
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const limit = page === 0 ? FEW : LIST_LIMIT_MAX;
    const found: Result<'webhooks.deliveries'> = await rpc('webhooks.deliveries', { ...filter, limit, cursor });
    if (found.deliveries.some((one) => !isHeldBack(one) && !paused.includes(one.webhook_id))) return true;
    // A page can be short, or empty, before the last one.
    cursor = found.next_cursor ?? null;
    if (cursor === null) return false;
  }
  return false;
}
