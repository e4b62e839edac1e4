import { expect, test } from 'vitest';
import { ALWAYS, betweenOf, chosenIn, isChosen, isIn, localValue, periodOf, withinOf } from './period';

test('a period has a begin and a later end', () => {
  const [from, until] = ['2026-11-21T16:00:00Z', '2026-11-21T17:00:00Z'];
  expect(betweenOf(from, until)).toEqual([Date.parse(from), Date.parse(until)]);
  for (const [a, b] of [
    [until, from],
    [from, from],
    ['', until],
    [from, 'x'],
  ])
    expect(betweenOf(a ?? '', b ?? '')).toBeNull();
});

test('only known names are periods up to now', () => {
  expect([withinOf('hour'), withinOf(''), withinOf('constructor')]).toEqual([3_600_000, 0, 0]);
});

test('a period of the address becomes parameters of the API', () => {
  const now = Date.parse('2026-11-21T17:00:00.000Z');
  const asked = (query: string) => periodOf(chosenIn(new URLSearchParams(query)), now);
  expect(asked('')).toEqual({ from: null, until: null });
  expect(asked('time=hour')).toEqual({ from: '2026-11-21T16:00:00.000Z', until: null });
  const [from, until] = ['2026-11-21T16:59:59.000Z', '2026-11-21T17:00:00.000Z'];
  expect(asked(`from=${from}&until=${until}`)).toEqual({ from, until });
  expect([isChosen(ALWAYS), isChosen(chosenIn(new URLSearchParams('time=day')))]).toEqual([false, true]);
});

test('a time is in a period from its begin on and before its end', () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const now = Date.parse('2026-11-21T17:00:00.000Z');
  const [from, until] = [now - 5000, now - 1000];
  const between = { within_ms: 0, between: [from, until] as const };
  const inside = (ms: number) => isIn(between, now, [at(ms)]);
  expect([from - 1, from, until - 1, until].map(inside)).toEqual([false, true, true, false]);
  const hour = { within_ms: 3_600_000, between: null };
  const within = (ms: number) => isIn(hour, now, [at(ms)]);
  expect([now - 3_600_001, now - 3_600_000, now + 1].map(within)).toEqual([false, true, true]);
  // One of several times is enough. An entry without a time is only in the period “any time”.
  expect(isIn(hour, now, [at(0), null, at(now)])).toBe(true);
  expect([isIn(hour, now, [null, undefined, '']), isIn(ALWAYS, now, [])]).toEqual([false, true]);
});

test('a field gets local time without seconds', () => {
  expect(Date.parse(localValue(Date.parse('2026-11-21T17:05:59Z')))).toBe(Date.parse('2026-11-21T17:05:00Z'));
});
