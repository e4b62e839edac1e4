import { expect, test } from 'vitest';
import { number, size, span } from './time';

test('numbers are grouped from a thousand on', () => {
  expect([0, 999, -999, 1000, 1234567, 0.5].map(number)).toEqual(['0', '999', '-999', '1,000', '1,234,567', '0.5']);
});

test('a duration of no whole millisecond is less than one', () => {
  expect([0, 1, 999, 1000, 61_000].map(span)).toEqual(['< 1 ms', '1 ms', '999 ms', '1.0 s', '1 min 1 s']);
});

test('a rounded value is in the unit that it reaches', () => {
  expect([999.4, 999.6, 59_949, 59_950, 59_999, 60_000].map(span)).toEqual([
    '999 ms',
    '1.0 s',
    '59.9 s',
    '1 min 0 s',
    '1 min 0 s',
    '1 min 0 s',
  ]);
  expect([0, 999, 1000, 999_949, 999_950, 1_000_000, 999_950_000, 2e12].map(size)).toEqual([
    '0 bytes',
    '999 bytes',
    '1 kB',
    '999.9 kB',
    '1 MB',
    '1 MB',
    '1 GB',
    '2,000 GB',
  ]);
});
