import { expect, test } from 'vitest';
import { clock } from './clock';

test('seconds are shown as on a clock', () => {
  expect(clock(0)).toBe('0:00');
  expect(clock(7.96)).toBe('0:07');
  expect(clock(59.999)).toBe('0:59');
  expect(clock(750)).toBe('12:30');
});

test('a length that is not known is no number', () => {
  expect(clock(Infinity)).toBe('–:––');
  expect(clock(NaN)).toBe('–:––');
});
