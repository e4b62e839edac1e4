import { expect, test } from 'vitest';
import { firstOf } from './first';

/** A list whose first `empty` pages are empty. */
function listAfter(empty: number) {
  const asked: (string | null)[] = [];
  const ask = (cursor: string | null) => {
    asked.push(cursor);
    const isEmpty = asked.length <= empty;
    return Promise.resolve({
      deliveries: isEmpty ? [] : [{ id: 'newest' }, { id: 'older' }],
      next_cursor: isEmpty ? `page ${asked.length}` : null,
    });
  };
  return { ask, asked };
}

test('a delivery is found on the fifth page, and no sixth is requested', async () => {
  const fifth = listAfter(4);
  expect(await firstOf(fifth.ask)).toEqual({ id: 'newest' });
  expect(fifth.asked).toEqual([null, 'page 1', 'page 2', 'page 3', 'page 4']);
  const sixth = listAfter(5);
  expect(await firstOf(sixth.ask)).toBeNull();
  expect(sixth.asked).toHaveLength(5);
});
