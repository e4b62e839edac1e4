// Searches the previous delivery of the same kind: of the same webhook and event type.
import { LIST_LIMIT_MAX } from '../../client/generated/limits';
import type { Status } from './status';

/** A search ends after about this many deliveries. */
export const MOST_EXAMINED = 10_000;
/** The limit of the first page. Most searches need only that one. */
const FIRST_PAGE = 50;
/** A page takes a limited time. One that is shorter than its limit and has a next page has examined more than this. */
const SHORT_PAGE = 2000;

/** The statuses of deliveries whose payload is not stored. */
const WITHOUT_PAYLOAD: Status[] = ['rejected', 'filtered', 'deduplicated'];

interface Kind {
  id: string;
  event_type?: string | null;
}

interface Listed<One> {
  deliveries: readonly One[];
  next_cursor?: string | null;
}

/**
 * Returns the newest delivery before this one that is of its kind and has a payload. `ask` lists the deliveries of the
 * webhook and event type, newest first. `more`: the search ended before the oldest delivery.
 */
export async function findPrevious<One extends Kind & { status: Status }>(
  delivery: Kind,
  ask: (at: { limit: number; cursor: string | null }) => Promise<Listed<One>>,
): Promise<{ before: One | null; more: boolean }> {
  const event = delivery.event_type ?? null;
  let cursor: string | null = null;
  for (let examined = 0; examined < MOST_EXAMINED;) {
    const limit: number = cursor === null ? FIRST_PAGE : LIST_LIMIT_MAX;
    const listed: Listed<One> = await ask({ limit, cursor });
    const before = listed.deliveries.find(
      (one) => one.id < delivery.id && !WITHOUT_PAYLOAD.includes(one.status) && (one.event_type ?? null) === event,
    );
    if (before) return { before, more: false };
    cursor = listed.next_cursor ?? null;
    if (cursor === null) return { before: null, more: false };
    const { length } = listed.deliveries;
    examined += length < limit ? SHORT_PAGE : length;
  }
  return { before: null, more: true };
}
