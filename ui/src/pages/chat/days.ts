// Formats the dates and times between messages.
import { regional } from '../../parts/region';

const DAY_MS = 86_400_000;
let days: Intl.DateTimeFormat | undefined;
let times: Intl.DateTimeFormat | undefined;
let words: Intl.RelativeTimeFormat | undefined;

const midnight = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();

/** "today", "yesterday" or the date; `null` without a time. */
export function dayOf(at: string | undefined, today = new Date()): string | null {
  if (!at) return null;
  const date = new Date(at);
  const apart = Math.round((midnight(date) - midnight(today)) / DAY_MS);
  words ??= new Intl.RelativeTimeFormat(regional(), { numeric: 'auto' });
  if (apart === 0 || apart === -1) return words.format(apart, 'day');
  days ??= new Intl.DateTimeFormat(regional(), { dateStyle: 'full' });
  return days.format(date);
}

/** Time of day, such as "10:32". */
export function timeOf(at: string): string {
  times ??= new Intl.DateTimeFormat(regional(), { timeStyle: 'short' });
  return times.format(new Date(at));
}
