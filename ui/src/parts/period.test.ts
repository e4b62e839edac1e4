import { expect, test } from 'vitest';
import { ALWAYS, betweenOf, chosenIn, isChosen, localValue, periodOf, withinOf } from './period';

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

test('a field gets local time without seconds', () => {
  expect(Date.parse(localValue(Date.parse('2026-11-21T17:05:59Z')))).toBe(Date.parse('2026-11-21T17:05:00Z'));
});
