import { expect, test } from 'vitest';
import { findDelivery, isEarlierOfKind, MOST_EXAMINED } from './search';

interface One {
  id: string;
  event_type: string | null;
}

const one = (n: number, event_type: string | null = 'push'): One => ({
  id: `del_${String(n).padStart(8, '0')}`,
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

test('the previous delivery of a kind is older and has its event type', async () => {
  const all = [one(9), one(8), one(6, 'issues'), one(5, null), one(4), one(3)];
  const { ask, limits } = gateway((_, page) => (page > 0 ? null : all));
  const before = (delivery: One) => findDelivery(ask, { fits: (other) => isEarlierOfKind(other, delivery), first: 50 });
  expect(await before(one(8))).toEqual({ found: one(4), more: false });
  expect(await before(one(8, null))).toEqual({ found: one(5, null), more: false });
  expect(await before(one(3))).toEqual({ found: null, more: false });
  expect(limits).toEqual([50, 50, 50]);
});

test('without a condition, the first delivery of the list is found', async () => {
  const { ask, limits } = gateway(() => [one(9), one(8)]);
  expect(await findDelivery(ask, { first: 1 })).toEqual({ found: one(9), more: false });
  expect(limits).toEqual([1]);
});

test('a search continues through empty pages up to its limit', async () => {
  // Each page has examined 2,000 deliveries.
  const most = MOST_EXAMINED / 2000;
  for (const first of [1, 50]) {
    for (const [empty, isFound] of [
      [most - 1, true],
      [most, false],
    ] as const) {
      const { ask, limits } = gateway((_, page) => (page < empty ? [] : page === empty ? [one(1)] : null));
      expect(await findDelivery(ask, { first })).toEqual({ found: isFound ? one(1) : null, more: !isFound });
      expect(limits).toHaveLength(most);
    }
  }
});

test('a search continues through full pages up to its limit', async () => {
  const { ask, limits } = gateway((limit) => Array.from({ length: limit }, () => one(1)));
  expect(await findDelivery(ask, { fits: () => false, first: 50 })).toEqual({ found: null, more: true });
  expect(limits).toEqual([50, ...Array.from({ length: 20 }, () => 500)]);
});
