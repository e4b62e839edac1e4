import { expect, test } from 'vitest';
import { differenceOf } from './difference';

const signs = { same: ' ', added: '+', removed: '-' };
const told = (before: string, after: string) => differenceOf(before, after).map(({ kind, text }) => signs[kind] + text);

test('changed lines are shown as removed and added', () => {
  expect(told('a\nb\nc', 'a\nB\nc')).toEqual([' a', '-b', '+B', ' c']);
});

test('a new text is all added, one that is gone all removed, and an equal one unchanged', () => {
  expect(told('', 'a\n\nb')).toEqual(['+a', '+', '+b']);
  expect(told('a', '')).toEqual(['-a']);
  expect(told('a', 'a')).toEqual([' a']);
});
