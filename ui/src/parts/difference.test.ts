import { expect, test } from 'vitest';
import { differenceOf } from './difference';

const signs = { same: ' ', added: '+', removed: '-' };
const diff = (before: string, after: string) => differenceOf(before, after).map(({ kind, text }) => signs[kind] + text);

test('changed lines are shown as removed and added', () => {
  expect(diff('a\nb\nc', 'a\nB\nc')).toEqual([' a', '-b', '+B', ' c']);
});

test('a new text is all added, one that is gone all removed, and an equal one unchanged', () => {
  expect(diff('', 'a\n\nb')).toEqual(['+a', '+', '+b']);
  expect(diff('a', '')).toEqual(['-a']);
  expect(diff('a', 'a')).toEqual([' a']);
});
