import { expect, test } from 'vitest';
import { number } from './time';

test('numbers are grouped from a thousand on', () => {
  expect([0, 999, -999, 1000, 1234567, 0.5].map(number)).toEqual(['0', '999', '-999', '1,000', '1,234,567', '0.5']);
});
