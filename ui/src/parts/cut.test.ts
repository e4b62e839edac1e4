import { expect, test } from 'vitest';
import { beginningOf, endOf } from './cut';

test('a text is cut between characters', () => {
  expect(beginningOf('abc', 2)).toBe('ab');
  expect(beginningOf('abc', 3)).toBe('abc');
  expect(beginningOf('a🚀c', 2)).toBe('a');
  expect(beginningOf('a🚀c', 3)).toBe('a🚀');
  expect(endOf('abc', 2)).toBe('bc');
  expect(endOf('abc', 4)).toBe('abc');
  expect(endOf('a🚀c', 2)).toBe('c');
  expect(endOf('a🚀c', 3)).toBe('🚀c');
});
