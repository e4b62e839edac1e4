// Actions on many deliveries: what they apply to, and their questions.
import { LIST_LIMIT_MAX } from '../../client/generated/limits';
import { m } from '../../paraglide/messages.js';
import { number } from '../../parts/time';
import type { Status } from './status';

export type Action = 'replay' | 'retry' | 'cancel';

const APPLIES: Record<Action, readonly Status[]> = {
  replay: ['completed', 'failed'],
  retry: ['received', 'queued'],
  cancel: ['received', 'queued', 'processing'],
};

/** The statuses of the waiting deliveries that a filter admits. */
export const waitingIn = (statuses: readonly Status[]): Status[] =>
  APPLIES.cancel.filter((status) => statuses.length === 0 || statuses.includes(status));

/**
 * The deliveries that an action applies to, in the order of receipt. Those whose status is not known count: the gateway
 * refuses what does not apply.
 */
export const targetsOf = (
  action: Action,
  ids: Iterable<string>,
  statusOf: (id: string) => Status | undefined,
): string[] =>
  [...ids]
    .filter((id) => {
      const status = statusOf(id);
      return status === undefined || APPLIES[action].includes(status);
    })
    .sort();

/** The most waiting deliveries that one click selects: an action needs a call for each. */
export const MOST_WAITING = 1000;
/** The most pages that are read for them. A page of a search may be empty. */
const MOST_PAGES = 20;

interface Listed {
  deliveries: readonly { id: string; status: Status }[];
  next_cursor?: string | null;
}

/** Lists the newest waiting deliveries, at most `MOST_WAITING`. `more`: there may be others. */
export async function listWaiting(ask: (at: { limit: number; cursor: string | null }) => Promise<Listed>) {
  const found: { id: string; status: Status }[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES && found.length < MOST_WAITING; page++) {
    const listed = await ask({ limit: Math.min(LIST_LIMIT_MAX, MOST_WAITING - found.length), cursor });
    found.push(...listed.deliveries.map(({ id, status }) => ({ id, status })));
    cursor = listed.next_cursor ?? null;
    if (cursor === null) break;
  }
  return { found, more: cursor !== null };
}

/** The question before an action on some deliveries. */
export function questionOf(action: Action, count: number): string {
  const words = { count, shown: number(count) };
  if (action === 'replay') return m.deliveries_bulk_text(words);
  return action === 'retry' ? m.deliveries_bulk_retry_text(words) : m.deliveries_bulk_cancel_text(words);
}

/** The question before a replay of all that match, of which one call replays at most `most`. */
export function replayQuestion(matched: number, most: number): string {
  if (matched === 0) return m.deliveries_bulk_none();
  if (matched <= most) return questionOf('replay', matched);
  return m.deliveries_bulk_text_part({ all: number(matched), shown: number(most) });
}
