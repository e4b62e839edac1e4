import { beforeEach, expect, test, vi } from 'vitest';
import { rpc } from '../../client/rpc';
import { waitsLong } from './waiting';

vi.mock('../../client/rpc', () => ({ rpc: vi.fn() }));

const called = vi.mocked(rpc);
beforeEach(() => void called.mockReset());
const NOW = Date.parse('2026-03-01T01:00:00Z');
const restored = { webhook_id: 'other', error: 'Restored from a backup. Waits until it is released.' };
const paused = { webhook_id: 'wh', error: null };
const late = { webhook_id: 'other', error: 'The server answered with status 500.' };

/** The gateway returns these pages. */
function pages(...all: (readonly object[])[]) {
  all.forEach((deliveries, at) => {
    const next_cursor = at + 1 < all.length ? `del_${at}` : null;
    called.mockResolvedValueOnce({ deliveries, next_cursor });
  });
}

test('deliveries that a pause or a restored backup holds do not count', async () => {
  pages([paused, restored]);
  expect(await waitsLong(['wh'], NOW)).toBe(false);
  pages([paused, restored]);
  expect(await waitsLong([], NOW)).toBe(true);
  const asked = { statuses: ['received', 'queued'], until: '2026-03-01T00:00:00.000Z', limit: 50, cursor: null };
  expect(called.mock.calls[0]).toEqual(['webhooks.deliveries', asked]);
});

test('one behind a page of held ones, and behind an empty page, is found', async () => {
  pages(Array(50).fill(restored), [], [restored, late], [late]);
  expect(await waitsLong([], NOW)).toBe(true);
  expect(called.mock.calls.map(([, params]) => params?.['cursor' as never])).toEqual([null, 'del_0', 'del_1']);
});

test('the search ends after 20 pages', async () => {
  called.mockResolvedValue({ deliveries: [restored], next_cursor: 'del_1' });
  expect(await waitsLong([], NOW)).toBe(false);
  expect(called).toHaveBeenCalledTimes(20);
});
