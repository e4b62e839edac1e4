import { expect, test } from 'vitest';
import { numberOf } from './numeral';

test('a number is read with the separators of the region', () => {
  expect(numberOf('1,000', 'en-US')).toBe(1000);
  expect(numberOf('1,000,000.5', 'en-US')).toBe(1_000_000.5);
  expect(numberOf('1.000', 'de-DE')).toBe(1000);
  expect(numberOf('1.000.000,5', 'de-DE')).toBe(1_000_000.5);
  expect(numberOf('-1.000,5', 'de-DE')).toBe(-1000.5);
});

test('a comma and a point are decimal where they separate no thousands', () => {
  expect(numberOf('0,7', 'en-US')).toBe(0.7);
  expect(numberOf('0.7', 'de-DE')).toBe(0.7);
  expect(numberOf(' 0.125 ', 'de-DE')).toBe(0.125);
  expect(numberOf('.5', 'en-US')).toBe(0.5);
  expect(numberOf('42', 'de-DE')).toBe(42);
});

test('anything else is no number', () => {
  for (const text of ['', ' ', 'warm', '1,2,3', '1.2.3', '0x10', '1e3', 'Infinity', '--1', '1,000.5.1'])
    expect(numberOf(text, 'en-US')).toBeNaN();
});
