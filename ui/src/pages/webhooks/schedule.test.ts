import { expect, it } from 'vitest';
import { scheduleDraftOf, scheduleError, scheduleInputOf, sentence, zones, type ScheduleDraft } from './schedule';

const cron = (pattern: string) => sentence({ cron: pattern, timezone: 'Europe/Berlin' });

it('says a common pattern in words and any other as it is', () => {
  expect(cron('0 9 * * *')).toBe('Every day at 9:00 AM (Europe/Berlin)');
  expect(cron('30 17 * * MON-WED')).toBe('Monday, Tuesday, and Wednesday at 5:30 PM (Europe/Berlin)');
  expect(cron('0 9 * * 0,7')).toBe('Sunday at 9:00 AM (Europe/Berlin)');
  expect(cron('5 0 1 * *')).toBe('On day 1 of every month at 12:05 AM (Europe/Berlin)');
  expect(cron('15 * * * *')).toBe('Every hour at minute 15 (Europe/Berlin)');
  expect(cron('*/10 * * * *')).toBe('Every 10 minutes (Europe/Berlin)');
  expect(cron('* * * * *')).toBe('Every minute (Europe/Berlin)');
  for (const other of ['*/5 * * * * *', '0 9 1 1 *', '0 9 * * MON#2', '@daily', '0 9 1 * MON', '0 9-17 * * *']) {
    expect(cron(other)).toBe(`At the times of the pattern ${other} (Europe/Berlin)`);
  }
});

it('says an interval in its largest unit, and one run with its time', () => {
  const every = (seconds: number) => sentence({ every_seconds: seconds, timezone: 'UTC' });
  expect(every(1)).toBe('Every 1 second');
  expect(every(90)).toBe('Every 90 seconds');
  expect(every(7200)).toBe('Every 2 hours');
  const once = sentence({ at: '2026-12-24T17:00:00.000Z', timezone: 'Europe/Berlin' });
  expect(once).toBe('Once: Thursday, December 24, 2026 at 6:00 PM (Europe/Berlin)');
});

it('keeps a schedule as it is when nothing is changed', () => {
  for (const schedule of [
    { cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin' },
    { every_seconds: 5400, timezone: 'UTC' },
    { at: '2026-12-24T17:00:00.000Z', timezone: 'UTC' },
  ]) {
    expect(scheduleInputOf(scheduleDraftOf(schedule))).toEqual(schedule);
  }
});

it('shows one run in the local time of its zone, and sends the moment only while it is unchanged', () => {
  // The second half past two, when the clocks are set back.
  const at = '2026-10-25T01:30:00.500Z';
  const draft = scheduleDraftOf({ at, timezone: 'Europe/Berlin' });
  expect(draft.at).toBe('2026-10-25T02:30');
  expect(scheduleInputOf(draft)).toEqual({ at, timezone: 'Europe/Berlin' });
  const later = { ...draft, at: '2026-10-25T09:30' };
  expect(scheduleInputOf(later)).toEqual({ at: '2026-10-25T09:30', timezone: 'Europe/Berlin' });
  const elsewhere = { ...draft, timezone: 'UTC' };
  expect(scheduleInputOf(elsewhere)).toEqual({ at: '2026-10-25T02:30', timezone: 'UTC' });
  expect(scheduleDraftOf({ at: '2026-12-24T17:00:30Z', timezone: 'UTC' }).at).toBe('2026-12-24T17:00:30');
  expect(scheduleDraftOf({ at, timezone: 'Mars/Olympus' }).at).toBe(at);
});

it('finds what is missing before the gateway is asked', () => {
  const draft = (said: Partial<ScheduleDraft>) => scheduleError({ ...scheduleDraftOf(null), ...said });
  expect(draft({})).toBeNull();
  expect(draft({ cron: ' ' })).toBe('Enter a cron pattern.');
  expect(draft({ kind: 'at' })).toBe('Enter a date and time.');
  for (const every of ['', '0', '-1', 'x', '0.5']) {
    expect(draft({ kind: 'every', unit: 'seconds', every })).toContain('31');
  }
  expect(draft({ kind: 'every', unit: 'days', every: '366' })).toBeNull();
  expect(draft({ kind: 'every', unit: 'days', every: '367' })).not.toBeNull();
});

it('offers UTC first, and a zone that the browser does not know', () => {
  expect(zones('UTC')[0]).toBe('UTC');
  expect(zones('Mars/Olympus')[0]).toBe('Mars/Olympus');
});
