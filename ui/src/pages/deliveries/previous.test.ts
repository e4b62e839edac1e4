import { expect, test } from 'vitest';
import { findPrevious, MOST_EXAMINED } from './previous';
import type { Status } from './status';

interface One {
  id: string;
  status: Status;
  event_type: string | null;
}

const id = (n: number) => `del_${String(n).padStart(8, '0')}`;
const one = (n: number, event_type: string | null = 'push', status: Status = 'completed'): One => ({
  id: id(n),
  status,
  event_type,
});

/** Pages of a list, and the limits that were requested. */
function gateway(pages: (limit: number, page: number) => readonly One[] | null) {
  const limits: number[] = [];
  const ask = ({ limit, cursor }: { limit: number; cursor: string | null }) => {
    const page = Number(cursor ?? 0);
    limits.push(limit);
    return Promise.resolve({
      deliveries: pages(limit, page) ?? [],
      next_cursor: pages(limit, page + 1) ? String(page + 1) : null,
    });
  };
  return { ask, limits };
}

test('the previous delivery is of the same event type, and has a payload', async () => {
  const skipped = (['rejected', 'filtered', 'deduplicated'] as const).map((status) => one(7, 'push', status));
  const all = [one(9), one(8), ...skipped, one(6, 'issues'), one(5, null), one(4), one(3)];
  const { ask, limits } = gateway((_, page) => (page > 0 ? null : all));
  expect(await findPrevious(one(8), ask)).toEqual({ before: one(4), more: false });
  expect(await findPrevious(one(8, null), ask)).toEqual({ before: one(5, null), more: false });
  expect(await findPrevious(one(3), ask)).toEqual({ before: null, more: false });
  expect(limits).toEqual([50, 50, 50]);
});

test('a search continues through empty pages up to its limit', async () => {
  // Each of them has examined 2,000 deliveries.
  const most = MOST_EXAMINED / 2000;
  for (const [empty, found] of [
    [most - 1, true],
    [most, false],
  ] as const) {
    const { ask, limits } = gateway((_, page) => (page < empty ? [] : page === empty ? [one(1)] : null));
    expect(await findPrevious(one(2), ask)).toEqual({ before: found ? one(1) : null, more: !found });
    expect(limits).toHaveLength(most);
  }
});

test('a search continues through full pages up to its limit', async () => {
  const { ask, limits } = gateway((limit) => Array.from({ length: limit }, () => one(1, 'issues')));
  expect(await findPrevious(one(2), ask)).toEqual({ before: null, more: true });
  expect(limits).toEqual([50, ...Array.from({ length: 20 }, () => 500)]);
});
