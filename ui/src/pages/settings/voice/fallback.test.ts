import { expect, test } from 'vitest';
import { moved } from './fallback';

test('an entry moves up or down, up to the ends of the list', () => {
  const list = ['a', 'b', 'c'];
  expect(moved(list, 'c', -1)).toEqual(['a', 'c', 'b']);
  expect(moved(list, 'a', 1)).toEqual(['b', 'a', 'c']);
  expect(moved(list, 'b', 1)).toEqual(['a', 'c', 'b']);
  expect(moved(list, 'a', -1)).toEqual(list);
  expect(moved(list, 'c', 1)).toEqual(list);
  expect(moved(list, 'd', -1)).toEqual(list);
  expect(list).toEqual(['a', 'b', 'c']);
});
