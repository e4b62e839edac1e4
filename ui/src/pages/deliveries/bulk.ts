// Actions on many deliveries: the deliveries that each action applies to, and its question.
import { isFailure, isUnheard, type Failure } from '../../client/failure';
import { LIST_LIMIT_MAX } from '../../client/generated/limits';
import { m } from '../../paraglide/messages.js';
import { regional } from '../../parts/region';
import { number } from '../../parts/time';
import type { Row } from './rows';
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

/** The data that decides whether an action applies to a delivery, its question and its name in messages. */
export interface Known extends Pick<Row, 'id' | 'webhook_id' | 'status'> {
  error?: string | null;
  summary?: string | null;
  event_type?: string | null;
  entity_key?: string | null;
}

interface Listed {
  deliveries: readonly Known[];
  next_cursor?: string | null;
}

/** Lists the newest deliveries, at most `MOST_FOUND`. `more` is true if there may be others. */
export async function listNewest(ask: (at: { limit: number; cursor: string | null }) => Promise<Listed>) {
  const found: Known[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES && found.length < MOST_FOUND; page++) {
    const listed = await ask({ limit: Math.min(LIST_LIMIT_MAX, MOST_FOUND - found.length), cursor });
    for (const { id, webhook_id, status, error, summary, event_type, entity_key } of listed.deliveries) {
      found.push({ id, webhook_id, status, error, summary, event_type, entity_key });
    }
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

/** Errors after which every other call would fail, too. */
const ENDS_ALL = [
  'AUTH_NOT_AUTHENTICATED',
  'CONFIRMATION_REQUIRED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'STORAGE_UNAVAILABLE',
  'VAULT_SEALED',
];

interface Ran {
  done: number;
  /** IDs of the deliveries that were not changed. */
  failed: string[];
  /** Why the first of them was not changed. */
  reason: Failure | null;
}

/**
 * Calls `change` for each delivery, also after one has failed. After an error that applies to all calls, the others are
 * not made and count as failed. A delivery that is refused with a code of `skipped` is neither done nor failed. `ended`
 * is called for each one that has not failed.
 *
 * Throws an error that is not the gateway's.
 */
export async function runEach(
  ids: readonly string[],
  change: (id: string) => Promise<unknown>,
  skipped: readonly string[],
  ended: (id: string) => void,
): Promise<Ran> {
  const ran: Ran = { done: 0, failed: [], reason: null };
  for (const [at, id] of ids.entries()) {
    try {
      await change(id);
      ran.done++;
    } catch (error) {
      if (!isFailure(error)) throw error;
      if (!skipped.includes(error.code)) {
        ran.reason ??= error;
        if (isUnheard(error) || ENDS_ALL.includes(error.code)) {
          ran.failed.push(...ids.slice(at));
          break;
        }
        ran.failed.push(id);
        continue;
      }
    }
    ended(id);
  }
  return ran;
}

/** The most failed deliveries that a message names. */
const MOST_NAMED = 3;

/** Which deliveries failed, and why. */
export function failedText(failed: readonly string[], nameOf: (id: string) => string, reason: string): string {
  const named = failed.slice(0, MOST_NAMED).map(nameOf);
  const others = failed.length - named.length;
  if (others > 0) named.push(m.deliveries_bulk_failed_others({ count: number(others) }));
  const names = new Intl.ListFormat(regional()).format(named);
  return `${m.deliveries_bulk_failed({ names })} ${reason}`;
}
