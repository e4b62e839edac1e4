// Searches the pages of a list of deliveries for the first match. A page takes a limited time, so it can be short or
// empty although more pages follow.
import { LIST_LIMIT_MAX } from '../../client/generated/limits';

/** A search ends after about this many deliveries. */
export const MOST_EXAMINED = 10_000;
/**
 * A page with a next page that is shorter than its limit has examined more deliveries than this
 * number.
 */
const SHORT_PAGE = 2000;

interface Listed<One> {
  deliveries: readonly One[];
  next_cursor?: string | null;
}

interface Search<One> {
  /** Returns whether a delivery matches. By default, every delivery does. */
  fits?: (one: One) => boolean;
  /** The limit of the first page. Most searches need only the first page. */
  first: number;
}

/**
 * Returns the first matching delivery, or null. `ask` requests a page of the list. `more` is true if the search ended
 * before the end of the list.
 */
export async function findDelivery<One>(
  ask: (at: { limit: number; cursor: string | null }) => Promise<Listed<One>>,
  { fits = () => true, first }: Search<One>,
): Promise<{ found: One | null; more: boolean }> {
  let cursor: string | null = null;
  for (let examined = 0; examined < MOST_EXAMINED;) {
    const limit: number = cursor === null ? first : LIST_LIMIT_MAX;
    const listed: Listed<One> = await ask({ limit, cursor });
    const found = listed.deliveries.find(fits);
    if (found !== undefined) return { found, more: false };
    cursor = listed.next_cursor ?? null;
    if (cursor === null) return { found: null, more: false };
    const { length } = listed.deliveries;
    examined += length < limit ? SHORT_PAGE : length;
  }
  return { found: null, more: true };
}

interface Kind {
  id: string;
  event_type?: string | null;
}

/** Whether a delivery of the same webhook was received before this one and has its event type. */
export const isEarlierOfKind = (one: Kind, delivery: Kind): boolean =>
  one.id < delivery.id && (one.event_type ?? null) === (delivery.event_type ?? null);
