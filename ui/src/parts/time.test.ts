import { expect, test } from 'vitest';
import { number, span } from './time';

test('numbers are grouped from a thousand on', () => {
  expect([0, 999, -999, 1000, 1234567, 0.5].map(number)).toEqual(['0', '999', '-999', '1,000', '1,234,567', '0.5']);
});

test('a duration of no whole millisecond is less than one', () => {
  expect([0, 1, 999, 1000, 61_000].map(span)).toEqual(['< 1 ms', '1 ms', '999 ms', '1.0 s', '1 min 1 s']);
});
