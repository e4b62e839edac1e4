// Converts a schedule to form state and to a sentence. All functions are pure.
import { SCHEDULE_INPUT_EVERY_SECONDS_MAX, SCHEDULE_INPUT_EVERY_SECONDS_MIN } from '../../client/generated/limits';
import type { Schedule } from '../../client/generated/rpc';
import type { Params } from '../../client/rpc';
import { m } from '../../paraglide/messages.js';
import { numberOf } from '../../parts/numeral';
import { regional } from '../../parts/region';
import { number } from '../../parts/time';

export const PROFILE = 'schedule';

export type Unit = 'seconds' | 'minutes' | 'hours' | 'days';

export interface ScheduleDraft {
  kind: 'cron' | 'every' | 'at';
  cron: string;
  every: string;
  unit: Unit;
  /** The value of a `datetime-local` field, or a moment if the browser does not support the zone of the record. */
  at: string;
  timezone: string;
  /** The moment of the record, with the matching values of `at` and `timezone`. */
  stored: { moment: string; at: string; timezone: string } | null;
}

export type ScheduleInput = NonNullable<Params<'webhooks.schedule.preview'>['schedule']>;

const SECONDS: Readonly<Record<Unit, number>> = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 };

export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** The zones to choose from, with UTC first. */
export function zones(chosen: string): string[] {
  const known = Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC');
  const all = ['UTC', ...known];
  return all.includes(chosen) ? all : [chosen, ...all];
}

export const emptySchedule = (): ScheduleDraft => ({
  kind: 'cron',
  cron: '0 9 * * *',
  every: '1',
  unit: 'hours',
  at: '',
  timezone: localZone(),
  stored: null,
});

/** Returns the interval in the largest unit of which it is a multiple. */
function inUnits(seconds: number): { count: number; unit: Unit } {
  const units: Unit[] = ['days', 'hours', 'minutes'];
  const unit = units.find((one) => seconds % SECONDS[one] === 0) ?? 'seconds';
  return { count: seconds / SECONDS[unit], unit };
}

export function scheduleDraftOf(schedule: Schedule | null | undefined): ScheduleDraft {
  const empty = emptySchedule();
  if (!schedule) return empty;
  const { cron, every_seconds: every, at, timezone } = schedule;
  if (cron != null) return { ...empty, kind: 'cron', cron, timezone };
  if (every != null) {
    const { count, unit } = inUnits(every);
    return { ...empty, kind: 'every', every: String(count), unit, timezone };
  }
  if (at == null) return { ...empty, kind: 'at', timezone };
  const local = localTime(at, timezone);
  return { ...empty, kind: 'at', at: local, timezone, stored: { moment: at, at: local, timezone } };
}

/** Returns a moment as the value of a `datetime-local` field in a zone. */
function localTime(moment: string, timeZone: string): string {
  try {
    // Swedish dates have the ISO 8601 format.
    const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone });
    return format.format(new Date(moment)).replace(' ', 'T').replace(/:00$/, '');
  } catch {
    // The browser does not support the zone.
    return moment;
  }
}

export function scheduleInputOf(draft: ScheduleDraft): ScheduleInput {
  const { timezone, stored } = draft;
  if (draft.kind === 'cron') return { cron: draft.cron.trim(), timezone };
  if (draft.kind === 'at') {
    // The local time omits milliseconds and may occur twice when clocks are set back.
    const isSame = stored?.at === draft.at && stored.timezone === timezone;
    return { at: isSame ? stored.moment : draft.at, timezone };
  }
  return { every_seconds: Math.round(numberOf(draft.every) * SECONDS[draft.unit]), timezone };
}

/** Returns the error of a missing value. The gateway checks the rest. */
export function scheduleError(draft: ScheduleDraft): string | null {
  if (draft.kind === 'cron') return draft.cron.trim() === '' ? m.webhooks_schedule_error_cron() : null;
  if (draft.kind === 'at') return draft.at === '' ? m.webhooks_schedule_error_at() : null;
  const seconds = numberOf(draft.every) * SECONDS[draft.unit];
  const most = Math.floor(SCHEDULE_INPUT_EVERY_SECONDS_MAX / SECONDS[draft.unit]);
  const isValid =
    Number.isInteger(seconds) &&
    seconds >= SCHEDULE_INPUT_EVERY_SECONDS_MIN &&
    seconds <= SCHEDULE_INPUT_EVERY_SECONDS_MAX;
  return isValid ? null : m.webhooks_error_number({ most: number(most) });
}

/** Returns the date and time of a run in the zone of its schedule. */
export function runTime(run: string, timezone: string): string {
  const at = new Date(run);
  const format = (timeZone: string) =>
    new Intl.DateTimeFormat(regional(), {
      weekday: 'long',
      year: 'numeric',
      month: 'long',
      day: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      ...(at.getUTCSeconds() === 0 ? {} : { second: '2-digit' }),
      timeZone,
    }).format(at);
  try {
    return format(timezone);
  } catch {
    // The browser does not support the zone.
    return format('UTC');
  }
}

const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];

/**
 * Returns the names of the days of a cron field such as `MON,WED` or `1-3`, or null for other
 * forms.
 */
function days(field: string): string[] | null {
  const index = (name: string) => (/^[0-7]$/.test(name) ? Number(name) : DAYS.indexOf(name.toUpperCase()));
  const found = field.split(',').flatMap((part) => {
    const [from = -1, to = from] = part.split('-').map(index);
    return from < 0 || to < from ? [-1] : Array.from({ length: to - from + 1 }, (_, more) => from + more);
  });
  if (found.includes(-1)) return null;
  // 2023-01-01 was a Sunday.
  const name = new Intl.DateTimeFormat(regional(), { weekday: 'long', timeZone: 'UTC' });
  return [...new Set(found.map((day) => name.format(new Date(Date.UTC(2023, 0, 1 + day)))))];
}

const listed = (names: readonly string[]): string => new Intl.ListFormat(regional()).format(names);

/** Returns a description of a common pattern, or null. */
function patternWords(cron: string): string | null {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = cron.trim().split(/\s+/);
  if (more.length > 0 || month !== '*') return null;
  const isEveryDay = day === '*' && weekday === '*';
  const step = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (hour === '*' && isEveryDay) {
    if (minute === '*') return m.webhooks_schedule_every_minute();
    if (step && 60 % Number(step) === 0)
      return m.webhooks_schedule_every({ interval: unitWords(Number(step), 'minutes') });
    return /^\d+$/.test(minute) ? m.webhooks_schedule_hourly({ minute }) : null;
  }
  if (!/^\d+$/.test(minute) || !/^\d+$/.test(hour)) return null;
  const format = new Intl.DateTimeFormat(regional(), { timeStyle: 'short', timeZone: 'UTC' });
  const time = format.format(new Date(Date.UTC(2023, 0, 1, Number(hour), Number(minute))));
  if (isEveryDay) return m.webhooks_schedule_daily({ time });
  if (/^\d+$/.test(day) && weekday === '*') return m.webhooks_schedule_monthly({ day, time });
  const names = day === '*' ? days(weekday) : null;
  return names ? m.webhooks_schedule_weekly({ days: listed(names), time }) : null;
}

const unitWords = (count: number, unit: Unit): string =>
  new Intl.NumberFormat(regional(), {
    style: 'unit',
    unit: unit.slice(0, -1),
    unitDisplay: 'long',
  }).format(count);

/** The schedule in words. */
export function sentence({ cron, every_seconds: every, at, timezone }: Schedule): string {
  if (every != null) {
    const { count, unit } = inUnits(every);
    return m.webhooks_schedule_every({ interval: unitWords(count, unit) });
  }
  const zone = timezone;
  if (at != null) return m.webhooks_schedule_once({ time: runTime(at, zone), zone });
  const words = patternWords(cron ?? '');
  return words ? m.webhooks_schedule_in({ words, zone }) : m.webhooks_schedule_pattern({ cron: cron ?? '', zone });
}
