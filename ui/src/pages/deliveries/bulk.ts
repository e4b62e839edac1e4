// Actions on many deliveries: the deliveries that each action applies to, and its question.
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

const appliesIn = (action: Action, statuses: readonly Status[]): Status[] =>
  APPLIES[action].filter((status) => statuses.length === 0 || statuses.includes(status));

/** Returns the statuses of waiting deliveries that a filter includes. */
export const waitingIn = (statuses: readonly Status[]): Status[] => appliesIn('cancel', statuses);

/** Returns the statuses of replayable deliveries that a filter includes. */
export const replayableIn = (statuses: readonly Status[]): Status[] => appliesIn('replay', statuses);

/**
 * Returns the deliveries that an action applies to, in the order of receipt. Includes deliveries of unknown status,
 * because the gateway refuses those that the action does not apply to.
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

/**
 * The maximum number of deliveries that one click selects or that a search finds, because an action
 * needs one call per delivery.
 */
export const MOST_FOUND = 1000;
/** The maximum number of pages that are read to find them. A page of a search may be empty. */
const MOST_PAGES = 20;

/** The data that decides whether an action applies to a delivery, and its question. */
export interface Known {
  status: Status;
  error?: string | null;
}

interface Listed {
  deliveries: readonly (Known & { id: string })[];
  next_cursor?: string | null;
}

/** Lists the newest deliveries, at most `MOST_FOUND`. `more` is true if there may be others. */
export async function listNewest(ask: (at: { limit: number; cursor: string | null }) => Promise<Listed>) {
  const found: (Known & { id: string })[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES && found.length < MOST_FOUND; page++) {
    const listed = await ask({ limit: Math.min(LIST_LIMIT_MAX, MOST_FOUND - found.length), cursor });
    found.push(...listed.deliveries.map(({ id, status, error }) => ({ id, status, error })));
    cursor = listed.next_cursor ?? null;
    if (cursor === null) break;
  }
  return { found, more: cursor !== null };
}

/**
 * Returns the question before an action on some deliveries, of which a restored backup holds
 * `held`.
 */
export function questionOf(action: Action, count: number, held = 0): string {
  const words = { count, shown: number(count) };
  if (action === 'replay') return m.deliveries_bulk_text(words);
  if (action === 'cancel') return m.deliveries_bulk_cancel_text(words);
  const text = m.deliveries_bulk_retry_text(words);
  // An attempt releases them.
  return held > 0 ? `${text} ${m.deliveries_bulk_retry_held({ count: held, shown: number(held) })}` : text;
}

/**
 * Returns the question before a replay of deliveries that a text search found. `more` is true if
 * older ones may match.
 */
export function foundQuestion(count: number, more: boolean): string {
  const text = count === 0 ? m.deliveries_bulk_none() : questionOf('replay', count);
  return more ? `${text} ${m.deliveries_bulk_older()}` : text;
}

/**
 * Returns the question before a replay of all matching deliveries. One call replays at most `most`.
 */
export function replayQuestion(matched: number, most: number): string {
  if (matched === 0) return m.deliveries_bulk_none();
  if (matched <= most) return questionOf('replay', matched);
  return m.deliveries_bulk_text_part({ all: number(matched), shown: number(most) });
}
