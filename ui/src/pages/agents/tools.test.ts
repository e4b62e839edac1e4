import { expect, test } from 'vitest';
import { namesOf, read, write } from './tools';

const known = ['calc', 'web_fetch', 'web_search'];

test.each([
  [{ allow: [], deny: [] }, 'all', ['calc', 'web_fetch', 'web_search']],
  [{ allow: [], deny: ['calc'] }, 'all', ['web_fetch', 'web_search']],
  [{ allow: ['*'], deny: ['calc'] }, 'all', ['web_fetch', 'web_search']],
  [{ allow: ['calc', 'mcp__x__*'], deny: [] }, 'only', ['calc', 'mcp__x__*']],
  [{ allow: ['calc', 'web_fetch'], deny: ['calc'] }, 'only', ['web_fetch']],
  [{ allow: [], deny: ['*'] }, 'only', []],
  [{ allow: ['calc'], deny: ['*'] }, 'only', []],
] as const)('%j is read as %s %j', (policy, mode, ticked) => {
  const choice = read({ allow: [...policy.allow], deny: [...policy.deny] }, known);
  expect([choice.mode, [...choice.ticked]]).toEqual([mode, ticked]);
});

test.each([
  [{ allow: [], deny: [] }],
  [{ allow: [], deny: ['calc', 'mcp__x__*'] }],
  [{ allow: ['calc', 'mcp__x__*'], deny: [] }],
  [{ allow: ['mcp__x__*'], deny: ['mcp__x__delete'] }],
  [{ allow: [], deny: ['*'] }],
])('%j is written as it was read', (policy) => {
  expect(write(read(policy, known), namesOf(policy, known))).toEqual(policy);
});

test('nothing ticked is nothing allowed, not everything', () => {
  expect(write({ mode: 'only', ticked: new Set(), never: [] }, known)).toEqual({ allow: [], deny: ['*'] });
});

test('what is ticked is no longer denied', () => {
  const choice = read({ allow: ['mcp__x__*'], deny: ['calc'] }, known);
  choice.ticked.add('calc');
  expect(write(choice, known)).toEqual({ allow: ['calc'], deny: [] });
});
