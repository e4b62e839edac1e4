import { expect, test } from 'vitest';
import { duration } from './duration';

test.each([
  [0, '0 seconds'],
  [1.9, '1 second'],
  [59, '59 seconds'],
  [60, '1 minute'],
  [61, '1 minute 1 second'],
  [3_600, '1 hour'],
  [3_661, '1 hour 1 minute'],
  [90_000, '1 day 1 hour'],
  [86_401, '1 day'],
])('%d seconds are %s', (seconds, words) => {
  expect(duration(seconds)).toBe(words);
});
