import { expect, test } from 'vitest';
import { kindOf, parse, typed } from './settings';

test.each([
  [true, 'flag'],
  [2.5, 'number'],
  [['a', 'b'], 'list'],
  [{ A: '1' }, 'object'],
  ['text', 'text'],
] as const)('%j is shown and typed back', (value, kind) => {
  expect(kindOf(value)).toBe(kind);
  expect(parse(typed(value), kind)).toEqual(value);
});

test('what does not fit is left to the gateway', () => {
  expect(parse('many', 'number')).toBe('many');
  expect(parse('', 'number')).toBe('');
  expect(parse('{', 'object')).toBe('{');
  expect(parse(' a \n\n b', 'list')).toEqual(['a', 'b']);
  expect(kindOf(null)).toBe('text');
});
