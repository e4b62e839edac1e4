import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isSettling, noteAnswer, SETTLES_MS } from './waiting.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
});

test('after an answer, the other calls cannot be answered at once', () => {
  expect(isSettling('b')).toBe(false);
  noteAnswer('a');
  expect(isSettling('a')).toBe(false);
  expect(isSettling('b')).toBe(true);
  vi.advanceTimersByTime(SETTLES_MS - 1);
  expect(isSettling('b')).toBe(true);
  vi.advanceTimersByTime(1);
  expect(isSettling('b')).toBe(false);
});

test('each answer begins the time again', () => {
  noteAnswer('a');
  vi.advanceTimersByTime(SETTLES_MS - 1);
  noteAnswer('b');
  vi.advanceTimersByTime(1);
  expect(isSettling('c')).toBe(true);
  expect(isSettling('a')).toBe(true);
});
