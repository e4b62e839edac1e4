// The names of periods, in the language of the page.
import { m } from '../paraglide/messages.js';
import { WITHIN, type Chosen } from './period';
import { short } from './time';

/** Names of the periods that end now, by their value in the URL. */
export const WITHIN_NAMES: Record<string, () => string> = {
  hour: m.parts_time_hour,
  day: m.parts_time_day,
  week: m.parts_time_week,
  month: m.parts_time_month,
};

const at = (ms: number) => short(new Date(ms).toISOString());

export const betweenName = ([begin, end]: readonly [number, number]): string => `${at(begin)} – ${at(end)}`;

/** Returns the name of a period, or undefined for any time. */
export function periodName({ within_ms, between }: Chosen): string | undefined {
  if (between) return betweenName(between);
  return Object.entries(WITHIN_NAMES).find(([value]) => WITHIN[value] === within_ms)?.[1]();
}
