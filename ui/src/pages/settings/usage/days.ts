// UTC days of the usage chart.
import { kept, regional } from '../../../parts/region';

/** How many days the page shows. */
export const DAYS = 30;
const DAY_MS = 86_400_000;

/** The last `DAYS` UTC days, oldest first, such as `2026-01-31`. */
export const daysUntil = (now_ms: number): string[] =>
  Array.from({ length: DAYS }, (_, at) => new Date(now_ms - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10));

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
