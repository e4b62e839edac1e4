// Formats times, durations, sizes and numbers in the rules of the user's language and region.
import { m } from '../paraglide/messages.js';
import { kept, regional } from './region';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './units';

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
];

const inWords = kept((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
const inFull = kept((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }));
const inShort = kept((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }));
const asDay = kept((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }));
const asNumber = kept((locale) => new Intl.NumberFormat(locale));
const asTenths = kept(
  (locale) => new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
);

/** Creates a format in advance. The first format of a page takes about 20 ms, so call this in a separate task. */
export const prepareFormats = (): void => void inWords();

/**
 * Returns a time relative to `now_ms`, such as "yesterday" or "in 3 hours". Returns "just now"
 * within 45 seconds.
 */
export function relative(at_ms: number, now_ms: number): string {
  const apart = at_ms - now_ms;
  if (Math.abs(apart) < 45_000) return apart > 1000 ? inWords().format(0, 'second') : m.parts_just_now();
  const [unit, length] = STEPS.find(([, ms]) => Math.abs(apart) >= ms * 0.95) ?? ['minute', MINUTE_MS];
  return inWords().format(Math.round(apart / length), unit);
}

/** Date and time with seconds. */
export const full = (at: string): string => inFull().format(new Date(at));

/** Date and time without seconds. */
export const short = (at: string): string => inShort().format(new Date(at));

/** Date only. */
export const day = (at: string): string => asDay().format(new Date(at));

/** Returns a duration such as "340 ms", "2.1 s" or "3 min 5 s". */
export function span(ms: number): string {
  // Durations are stored in whole milliseconds, so 0 means less than one.
  if (ms === 0) return '< 1 ms';
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  // Rounds first, because 59.96 seconds must become one minute and not 60.0 seconds.
  if (Math.round(ms / 100) < MINUTE_MS / 100) return `${tenths(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Returns a size such as "245 bytes" or "12.3 kB". */
export function size(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
  // Rounds first, because 999,960 bytes must become 1 MB and not 1,000 kB.
  const fits = units.findIndex((_, power) =>
    power === 0 ? bytes < 1000 : Math.round((bytes / 1000 ** power) * 10) < 10_000,
  );
  const at = fits < 0 ? units.length - 1 : fits;
  const unitDisplay = at === 0 ? 'long' : 'short';
  const options: Intl.NumberFormatOptions = {
    style: 'unit',
    unit: units[at] ?? 'byte',
    unitDisplay,
    maximumFractionDigits: 1,
  };
  return new Intl.NumberFormat(regional(), options).format(bytes / 1000 ** at);
}

/**
 * Formats a number. Small integers in English skip `NumberFormat`, because a page's first format
 * takes about 20 ms.
 */
export function number(value: number): string {
  const isPlain = Number.isInteger(value) && Math.abs(value) < 1000 && regional().startsWith('en');
  return isPlain ? String(value) : asNumber().format(value);
}

/** A number with one decimal. */
export const tenths = (value: number): string => asTenths().format(value);
