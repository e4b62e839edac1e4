import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { act, dismiss, toast, toasts, TOASTS_MAX } from './toasts.svelte';

const shown = () => toasts.map(({ text }) => text);

beforeEach(() => {
  vi.useFakeTimers();
  toasts.splice(0);
});
afterEach(() => void vi.useRealTimers());

test('a toast disappears after some seconds, except for an error and for one that stays', () => {
  const action = { label: 'Show', run: () => undefined };
  toast('Saved');
  toast('Changed', { action });
  toast('Failed', { kind: 'bad' });
  toast('Rotated', { action, stays: true });
  vi.advanceTimersByTime(11_999);
  expect(shown()).toEqual(['Changed', 'Failed', 'Rotated']);
  vi.advanceTimersByTime(1);
  expect(shown()).toEqual(['Failed', 'Rotated']);
  vi.advanceTimersByTime(24 * 3_600_000);
  expect(shown()).toEqual(['Failed', 'Rotated']);
});

test('one toast more than fit removes the oldest that does not stay', () => {
  toast('Rotated', { stays: true });
  for (let count = 2; count <= TOASTS_MAX; count++) toast(`Saved ${count}`);
  expect(shown()).toEqual(['Rotated', 'Saved 2', 'Saved 3', 'Saved 4']);
  toast('Saved 5');
  expect(shown()).toEqual(['Rotated', 'Saved 3', 'Saved 4', 'Saved 5']);
});

test('one toast that stays more than fit removes the oldest of them', () => {
  for (let count = 1; count <= TOASTS_MAX + 1; count++) toast(`Rotated ${count}`, { stays: true });
  expect(shown()).toEqual(['Rotated 2', 'Rotated 3', 'Rotated 4', 'Rotated 5']);
});

test('the action of a toast that stays does not remove it', () => {
  const run = vi.fn();
  const action = { label: 'Show', run };
  const undo = toast('Changed', { action });
  const shows = toast('Rotated', { action, stays: true });
  for (const one of [...toasts]) act(one);
  expect(run).toHaveBeenCalledTimes(2);
  expect(toasts.map(({ id }) => id)).toEqual([shows]);
  expect(undo).not.toBe(shows);
  dismiss(shows);
  expect(toasts).toEqual([]);
});
