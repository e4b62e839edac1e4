import { expect, test } from 'vitest';
import { quantile } from './quantile';

test('quantiles are values of the list', () => {
  expect(quantile([], 0.5)).toBeNull();
  expect(quantile([5], 0.95)).toBe(5);
  expect(quantile([3, 1, 2, 4], 0.5)).toBe(2);
  expect(quantile([3, 1, 2, 4], 0.95)).toBe(4);
});
