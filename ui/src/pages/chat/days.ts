// Formats the dates and times between messages.
import { kept } from '../../parts/region';
import { DAY_MS } from '../../parts/units';

const days = kept((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'full' }));
const times = kept((locale) => new Intl.DateTimeFormat(locale, { timeStyle: 'short' }));
const words = kept((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));

const midnight = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();

/** "today", "yesterday" or the date; `null` without a time. */
export function dayOf(at: string | undefined, today = new Date()): string | null {
  if (!at) return null;
  const date = new Date(at);
  const apart = Math.round((midnight(date) - midnight(today)) / DAY_MS);
  if (apart === 0 || apart === -1) return words().format(apart, 'day');
  return days().format(date);
}

/** Time of day, such as "10:32". */
export function timeOf(at: string): string {
  return times().format(new Date(at));
}
