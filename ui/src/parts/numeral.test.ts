import { expect, test } from 'vitest';
import { numberOf, numeralOf } from './numeral';

test('a number is read with the separators of the region', () => {
  expect(numberOf('1,000', 'en-US')).toBe(1000);
  expect(numberOf('1,000,000.5', 'en-US')).toBe(1_000_000.5);
  expect(numberOf('1.000', 'de-DE')).toBe(1000);
  expect(numberOf('1.000.000,5', 'de-DE')).toBe(1_000_000.5);
  expect(numberOf('-1.000,5', 'de-DE')).toBe(-1000.5);
});

test('thousands are separated as the page shows them, or as keyboards write them', () => {
  for (const locale of ['de-AT', 'de-CH', 'en-IN', 'en-ZA', 'en-FR']) {
    for (const value of [1000, 100_000, 1_234_567.5])
      expect(numberOf(new Intl.NumberFormat(locale).format(value), locale)).toBe(value);
  }
  expect(numberOf('1 000', 'de-AT')).toBe(1000);
  expect(numberOf('1.000', 'de-AT')).toBe(1000);
  expect(numberOf("1'000.5", 'de-CH')).toBe(1000.5);
  expect(numberOf('1’000', 'de-CH')).toBe(1000);
  for (const text of ['1 00', '1 0000', "1'000 000", '1,000 000']) expect(numberOf(text, 'en-US')).toBeNaN();
});

test('a number that is shown in a field is read as the same number', () => {
  for (const locale of ['en-US', 'de-DE', 'de-AT', 'de-CH'])
    for (const value of [0, 0.1, 0.125, 1.1, 1.125, 1000, 1234.5])
      expect(numberOf(numeralOf(value, locale), locale)).toBe(value);
  expect(numeralOf(1.125, 'de-DE')).toBe('1,125');
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
