// UTC days of the usage chart.
import { kept, regional } from '../../../parts/region';
import { DAY_MS } from '../../../parts/units';

/** The number of days that are shown at first. */
export const DAYS = 30;
/** The numbers of days that the page can show. */
export const PERIODS = [7, DAYS, 90, 365];

/** The last `count` UTC days, oldest first, such as `2026-01-31`. */
export const daysUntil = (now_ms: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => new Date(now_ms - (count - 1 - at) * DAY_MS).toISOString().slice(0, 10));

const date = kept(
  (locale) => new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' }),
);

/** A UTC day in words, such as `Sat, Jan 31`. */
export const dayText = (day: string): string => date().format(Date.parse(`${day}T00:00:00Z`));

/** An amount in the unit of the prices, without a currency. */
export const money = (value: number): string =>
  new Intl.NumberFormat(regional(), {
    minimumFractionDigits: 2,
    maximumFractionDigits: value < 1 ? 4 : 2,
  }).format(value);
