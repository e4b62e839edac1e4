import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isSettling, noteAction, SETTLES_MS } from './settling.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
});

test('after an action on a record, the others cannot be acted on at once', () => {
  expect(isSettling('b')).toBe(false);
  noteAction('a');
  expect(isSettling('a')).toBe(false);
  expect(isSettling('b')).toBe(true);
  vi.advanceTimersByTime(SETTLES_MS - 1);
  expect(isSettling('b')).toBe(true);
  vi.advanceTimersByTime(1);
  expect(isSettling('b')).toBe(false);
});

test('each action begins the time again', () => {
  noteAction('a');
  vi.advanceTimersByTime(SETTLES_MS - 1);
  noteAction('b');
  vi.advanceTimersByTime(1);
  expect(isSettling('c')).toBe(true);
  expect(isSettling('a')).toBe(true);
});
