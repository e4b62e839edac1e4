// The rows of the list as data: their fields, the filters, and merging live changes. Pure functions.
import { ALWAYS, isChosen, type Chosen } from '../../parts/period';
import type { Delivery, Status } from './status';

/** A delivery as sent by events, without the fields that may be large. */
export type Change = Omit<
  Delivery,
  'headers' | 'body_preview' | 'response_actions' | 'failed_attempts' | 'status_code' | 'answer'
>;

/** The fields that a row shows. Previews and headers would take megabytes in a long list. */
export interface Row {
  id: string;
  webhook_id: string;
  status: Status;
  event_type: string | null;
  entity_key: string | null;
  received_at: string;
  duration_ms: number | null;
  error: string | null;
  summary: string | null;
  outcome: string | null;
  target: string | null;
  /** The name of the channel that received a text without an agent. */
  channel: string | null;
  /** Whether the payload was edited for a replay. */
  edited: boolean;
}

export interface Filters extends Chosen {
  webhook: string;
  /** Any status if empty. */
  statuses: readonly Status[];
  event: string;
  q: string;
  /** Whether to show only deliveries that a restored backup holds. */
  restored: boolean;
}

export const NO_FILTERS: Filters = { webhook: '', statuses: [], event: '', q: '', restored: false, ...ALWAYS };

/** Changes of the filters, as parts of the URL. */
export type FilterChange = Partial<
  Record<'webhook' | 'status' | 'event' | 'q' | 'restored' | 'time' | 'from' | 'until', string | null>
>;

export const CLEARED: FilterChange = {
  webhook: '',
  status: '',
  event: '',
  q: '',
  restored: '',
  time: '',
  from: '',
  until: '',
};

export const isFiltered = ({ webhook, statuses, event, q, restored, ...period }: Filters): boolean =>
  Boolean(webhook || statuses.length > 0 || event || q || restored || isChosen(period));

export const rowOf = (delivery: Change): Row => ({
  id: delivery.id,
  webhook_id: delivery.webhook_id,
  status: delivery.status,
  event_type: delivery.event_type ?? null,
  entity_key: delivery.entity_key ?? null,
  received_at: delivery.received_at,
  duration_ms: delivery.duration_ms ?? null,
  error: delivery.error ?? null,
  summary: delivery.summary ?? null,
  outcome: delivery.outcome ?? null,
  target: delivery.target ?? null,
  channel: delivery.channel ?? null,
  edited: delivery.edited?.includes('payload') ?? false,
});

/**
 * Compares an event type with a filter as the gateway does. A `*` at the end stands for any text.
 */
const isEvent = (filter: string, event: string): boolean =>
  filter.endsWith('*') ? event.startsWith(filter.slice(0, -1)) : event === filter;

/**
 * Returns whether a delivery matches the filters. A search does not find matches in the body,
 * because events do not contain it.
 */
export function matches(delivery: Change, filters: Filters, now_ms = Date.now()): boolean {
  const { webhook, statuses, event, q, restored, within_ms, between } = filters;
  // A new delivery does not come from a backup.
  if (restored) return false;
  if (webhook && delivery.webhook_id !== webhook) return false;
  if (statuses.length > 0 && !statuses.includes(delivery.status)) return false;
  const at = Date.parse(delivery.received_at);
  // A delivery that is older than the period changes when it is attempted again.
  if (within_ms > 0 && at < now_ms - within_ms) return false;
  if (between && (at < between[0] || at >= between[1])) return false;
  if (event && !isEvent(event, delivery.event_type ?? '')) return false;
  if (!q) return true;
  const wanted = q.toLowerCase();
  const searched = [delivery.event_type, delivery.entity_key, delivery.error, delivery.summary, delivery.outcome];
  return searched.some((text) => text?.toLowerCase().includes(wanted));
}

/**
 * Returns the index of a row by binary search, or -1 if it is absent. Rows are newest first, and
 * IDs sort by time.
 */
export function indexOf(rows: readonly Row[], id: string): number {
  const at = placeOf(rows, id);
  return rows[at]?.id === id ? at : -1;
}

function placeOf(rows: readonly Row[], id: string): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.id ?? '') > id) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Joined {
  rows: Row[];
  /** New rows that the list does not show yet, newest first. */
  fresh: Row[];
}

/**
 * Merges live changes into the list. Known rows are replaced in place. New rows are inserted. While the user is
 * scrolled down (`hold`), they are added to `fresh` instead, so nothing moves. Rows older than the last loaded row are
 * skipped, because their page will include them.
 */
export function join(
  before: Joined,
  came: readonly Change[],
  options: { filters: Filters; hold: boolean; complete: boolean },
): Joined {
  const rows = [...before.rows];
  let fresh = [...before.fresh];
  for (const delivery of came) {
    const row = rowOf(delivery);
    const at = placeOf(rows, row.id);
    if (rows[at]?.id === row.id) {
      rows[at] = row;
      continue;
    }
    const waiting = indexOf(fresh, row.id);
    if (waiting >= 0) {
      fresh = fresh.toSpliced(waiting, 1, row);
      continue;
    }
    if (!matches(delivery, options.filters)) continue;
    if (at === rows.length && rows.length > 0 && !options.complete) continue;
    if (options.hold) fresh.splice(placeOf(fresh, row.id), 0, row);
    else rows.splice(at, 0, row);
  }
  return { rows, fresh };
}

/** Merges two lists of rows, newest first. Rows in both are taken from `newer`. */
export function merge(newer: readonly Row[], older: readonly Row[]): Row[] {
  const known = new Set(newer.map((row) => row.id));
  return [...newer, ...older.filter((row) => !known.has(row.id))].sort((a, b) =>
    a.id < b.id ? 1 : a.id > b.id ? -1 : 0,
  );
}
