import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PAUSE_MS, Settled } from './settled.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('of texts that follow each other, only the last is said, after a pause', () => {
  const result = new Settled();
  for (const text of ['3 found', '2 found', '1 found']) {
    result.say(text);
    vi.advanceTimersByTime(PAUSE_MS - 1);
    expect(result.said).toBe('');
  }
  vi.advanceTimersByTime(1);
  expect(result.said).toBe('1 found');
});

test('the same text is said again only after it was cleared', () => {
  const result = new Settled();
  result.say('1 found');
  vi.advanceTimersByTime(PAUSE_MS);
  result.say('1 found');
  expect(result.said).toBe('1 found');
  result.clear();
  expect(result.said).toBe('');
  result.say('1 found');
  vi.advanceTimersByTime(PAUSE_MS);
  expect(result.said).toBe('1 found');
});

test('a text that is cleared in the pause is not said', () => {
  const result = new Settled();
  result.say('1 found');
  result.clear();
  vi.advanceTimersByTime(PAUSE_MS);
  expect(result.said).toBe('');
});
