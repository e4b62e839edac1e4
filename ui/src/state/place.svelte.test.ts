// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { go, guardInput, guardLeaving, place } from './place.svelte';

/** Goes back in the history and waits for `popstate`. */
async function back(): Promise<void> {
  const gone = new Promise((resolve) => addEventListener('popstate', resolve, { once: true }));
  history.back();
  await gone;
}

describe('leaving what would be lost', () => {
  beforeEach(() => {
    go('/first');
    go('/second');
  });
  afterEach(() => void vi.unstubAllGlobals());

  test('unsaved input is guarded against links and against closing the window, until the guard ends', () => {
    const ask = vi.fn(() => false);
    vi.stubGlobal('confirm', ask);
    let isUnsaved = true;
    const end = guardInput(
      () => isUnsaved,
      () => 'Leave the form?',
    );
    const mayClose = () => dispatchEvent(new Event('beforeunload', { cancelable: true }));
    go('/third');
    expect([place.path, mayClose()]).toEqual(['/second', false]);
    expect(ask).toHaveBeenCalledExactlyOnceWith('Leave the form?');
    isUnsaved = false;
    expect(mayClose()).toBe(true);
    isUnsaved = true;
    end();
    go('/third');
    expect([place.path, mayClose()]).toEqual(['/third', true]);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  test('who stays is asked once, and stays, by link and by Back', async () => {
    const ask = vi.fn(() => false);
    const end = guardLeaving(ask);
    go('/third');
    expect([place.path, location.pathname]).toEqual(['/second', '/second']);
    await back();
    expect([place.path, location.pathname]).toEqual(['/second', '/second']);
    expect(ask).toHaveBeenCalledTimes(2);
    end();
  });

  test('who goes, goes, and is not asked again', async () => {
    const ask = vi.fn(() => true);
    guardLeaving(ask);
    await back();
    expect(place.path).toBe('/first');
    go('/third');
    expect(place.path).toBe('/third');
    expect(ask).toHaveBeenCalledTimes(1);
  });
});
