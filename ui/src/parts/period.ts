// The period of the list as a part of the address. Pure functions.

export const WITHIN: Record<string, number> = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 30 * 86_400_000,
};

export const withinOf = (name: string): number => (Object.hasOwn(WITHIN, name) ? (WITHIN[name] ?? 0) : 0);

/** Reads `from` and `until` of the address; null if they are not a period. */
export function betweenOf(from: string, until: string): [number, number] | null {
  const begin = Date.parse(from);
  const end = Date.parse(until);
  return Number.isNaN(begin) || Number.isNaN(end) || begin >= end ? null : [begin, end];
}

/** A time as the value of a `datetime-local` field, in local time. */
export function localValue(ms: number): string {
  const at = new Date(ms);
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
