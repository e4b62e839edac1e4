import { expect, test } from 'vitest';
import type { Condition } from '../../client/generated/rpc';
import {
  conditionErrors,
  filterConditions,
  payloadFilterOf,
  placedErrors,
  valueOf,
  withoutCondition,
} from './conditions';

test('a typed value is JSON, or else a text', () => {
  for (const [typed, value] of [
    ['42', 42],
    [' 1.50 ', 1.5],
    ['true', true],
    ['null', null],
    ['"42"', '42'],
    ['""', ''],
    ['main', 'main'],
    ['two words', 'two words'],
    ['[1]', '[1]'],
    ['{"a":1}', '{"a":1}'],
    ['1e999', '1e999'],
  ] as const) {
    expect(valueOf(typed)).toBe(value);
  }
});

test('a stored condition is typed so that it is sent unchanged', () => {
  const values = ['main', '42', 'true', '"a"', ' a ', '', 'a\nb', 42, 1.5, -3, true, false, null];
  const stored: Condition[] = values.map((value) => ({ path: 'a.0', is: 'equals', value }));
  stored.push({ path: 'b', is: 'exists' }, { path: 'c.*.d', is: 'missing', or: true });
  expect(payloadFilterOf(filterConditions(stored))).toEqual(stored);
  expect(filterConditions(undefined)).toEqual([]);
  expect(payloadFilterOf([])).toBeNull();
});

test('a condition without a value sends none, and braces of a template are removed', () => {
  expect(payloadFilterOf([{ path: ' {a.b} ', is: 'missing', value: 'typed before', or: false }])).toEqual([
    { path: 'a.b', is: 'missing' },
  ]);
});

test('an alternative that becomes the first condition is none', () => {
  const one = { path: 'a', is: 'exists', value: '', or: true } as const;
  expect(payloadFilterOf([one, one])).toEqual([
    { path: 'a', is: 'exists' },
    { path: 'a', is: 'exists', or: true },
  ]);
});

test('the first alternative of a removed condition takes its place', () => {
  const typed = (text: string) =>
    text.split(' ').map((path) => ({ path, is: 'exists', value: '', or: path.startsWith('or') }) as const);
  const after = (text: string, at: number) => withoutCondition(typed(text), at).map(({ path, or }) => [path, or]);
  expect(after('a orB orC', 0)).toEqual([
    ['orB', false],
    ['orC', true],
  ]);
  expect(after('a b orC', 1)).toEqual([
    ['a', false],
    ['orC', false],
  ]);
  expect(after('a orB orC', 1)).toEqual([
    ['a', false],
    ['orC', true],
  ]);
  expect(after('a orB c', 1)).toEqual([
    ['a', false],
    ['c', false],
  ]);
  expect(after('a', 0)).toEqual([]);
});

test('what is missing, or too large to be sent unchanged, has an error at its field', () => {
  const typed = [
    { path: ' ', is: 'equals', value: '', or: false },
    { path: 'a', is: 'greater', value: '"1"', or: false },
    { path: 'a', is: 'less', value: '1', or: false },
    { path: '{}', is: 'exists', value: '', or: false },
    { path: 'a', is: 'equals', value: '9007199254740991', or: false },
    { path: 'a', is: 'equals', value: '-9007199254740992', or: false },
    { path: 'a', is: 'equals', value: '"9007199254740992"', or: false },
  ] as const;
  expect(Object.keys(conditionErrors(typed))).toEqual([
    'payload_filter.0.path',
    'payload_filter.0.value',
    'payload_filter.1.value',
    'payload_filter.3.path',
    'payload_filter.5.value',
  ]);
});

test('a refusal of the gateway is shown at the field that it names', () => {
  const name = { name: 'Enter a name.' };
  const placed = placedErrors({ ...name, payload_filter: 'condition 2: path: at most 200 characters' });
  expect(placed).toEqual({ ...name, 'payload_filter.1.path': 'at most 200 characters' });
  const whole = { payload_filter: 'at most 20 conditions' };
  expect(placedErrors(whole)).toBe(whole);
});
