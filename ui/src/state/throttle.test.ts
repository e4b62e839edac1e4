import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { throttle } from './throttle';

describe('throttle', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('the first call runs at once, a storm once more at the end of each pause', () => {
    const run = vi.fn();
    const calls = throttle(run, 1000);
    for (let at = 0; at < 25; at++) {
      calls();
      vi.advanceTimersByTime(100);
    }
    expect(run).toHaveBeenCalledTimes(3);
    vi.advanceTimersByTime(5000);
    expect(run).toHaveBeenCalledTimes(4);
  });

  test('what comes after a quiet pause runs at once again', () => {
    const run = vi.fn();
    const calls = throttle(run, 1000);
    calls();
    vi.advanceTimersByTime(1000);
    expect(run).toHaveBeenCalledTimes(1);
    calls();
    expect(run).toHaveBeenCalledTimes(2);
  });

  test('what is cancelled does not run', () => {
    const run = vi.fn();
    const calls = throttle(run, 1000);
    calls();
    calls();
    calls.cancel();
    vi.advanceTimersByTime(5000);
    expect(run).toHaveBeenCalledTimes(1);
  });
});
