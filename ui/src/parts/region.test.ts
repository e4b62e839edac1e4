import { expect, test } from 'vitest';
import { regionalOf } from './region';

test('dates and numbers follow the region that the browser names for the language', () => {
  expect(regionalOf('en', ['en-GB', 'en-US'])).toBe('en-GB');
  expect(regionalOf('de', ['en-US', 'de-AT', 'de'])).toBe('de-AT');
  expect(regionalOf('de', ['de'])).toBe('de');
});

test('they follow another language’s region if the browser lacks the language', () => {
  expect(regionalOf('en', ['de-AT', 'de'])).toBe('en-AT');
  expect(regionalOf('en', ['de', 'fr-CH'])).toBe('en-CH');
  expect(regionalOf('en', ['', 'x-'])).toBe('en');
  expect(regionalOf('de', [])).toBe('de');
});
