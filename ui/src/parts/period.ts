// Converts the period of a list between the URL query and the parameters of the API. All functions
// are pure.
import { DAY_MS, HOUR_MS, MINUTE_MS } from './units';

export interface Chosen {
  /** A period that ends now, in milliseconds. 0 means any time. */
  within_ms: number;
  /** Begin and end in milliseconds since 1970, or null. */
  between: readonly [number, number] | null;
}

/** Any time. */
export const ALWAYS: Chosen = { within_ms: 0, between: null };

/** Query parameters that remove the period. */
export const ANY_TIME = { time: null, from: null, until: null };

/** Reads the period from query parameters. */
export const chosenOf = ({ time, from, until }: Record<'time' | 'from' | 'until', string | null>): Chosen => ({
  within_ms: withinOf(time ?? ''),
  between: betweenOf(from ?? '', until ?? ''),
});

/** Reads the period from the query of a URL. */
export const chosenIn = (query: URLSearchParams): Chosen =>
  chosenOf({ time: query.get('time'), from: query.get('from'), until: query.get('until') });

export const isChosen = ({ within_ms, between }: Chosen): boolean => within_ms > 0 || between !== null;

/** Returns the period as parameters of the API. */
export function periodOf(
  { within_ms, between }: Chosen,
  now_ms: number,
): { from: string | null; until: string | null } {
  const [from, until] = between ?? [within_ms ? now_ms - within_ms : null, null];
  const text = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return { from: text(from), until: text(until) };
}

/** Whether one of the times is in the period, including its begin and excluding its end. */
export function isIn(period: Chosen, now_ms: number, times: readonly (string | null | undefined)[]): boolean {
  if (!isChosen(period)) return true;
  const [from, until] = period.between ?? [now_ms - period.within_ms, Infinity];
  return times.some((time) => {
    const ms = Date.parse(time ?? '');
    return ms >= from && ms < until;
  });
}

export const WITHIN: Record<string, number> = {
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
};

export const withinOf = (name: string): number => (Object.hasOwn(WITHIN, name) ? (WITHIN[name] ?? 0) : 0);

/** Reads `from` and `until` of the URL. Returns null if they are not a period. */
export function betweenOf(from: string, until: string): [number, number] | null {
  const begin = Date.parse(from);
  const end = Date.parse(until);
  return Number.isNaN(begin) || Number.isNaN(end) || begin >= end ? null : [begin, end];
}

/** Returns a time as the value of a `datetime-local` field in local time. */
export function localValue(ms: number): string {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}
