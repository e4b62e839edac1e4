import { expect, test } from 'vitest';
import { scopeName } from './scopes';

test('a scope is named in words', () => {
  expect(scopeName('all')).toBe('Everything');
  expect(scopeName('agent:default')).toBe('Agent default');
  expect(scopeName('model:openai/gpt:free')).toBe('Model openai/gpt:free');
  expect(scopeName('webhook:wh_1', new Map([['wh_1', 'Bills']]))).toBe('Webhook Bills');
});

test('a scope of an unknown kind is shown as it is', () => {
  expect(scopeName('team:a')).toBe('team:a');
  expect(scopeName('constructor:a')).toBe('constructor:a');
});
