// @vitest-environment jsdom
import { expect, it } from 'vitest';
import { viewOf, views } from './views.svelte';

it('keeps the filters of an address, and nothing else', () => {
  expect(viewOf('?q=checkout&range=week&tab=payload&status=failed')).toBe('status=failed&q=checkout');
  expect(viewOf('?restored=1&status=queued')).toBe('status=queued&restored=1');
  expect(viewOf('')).toBe('');
});

it('keeps what another window saved', () => {
  const other = { name: 'Theirs', query: 'q=theirs' };
  localStorage.setItem('delivery filters', JSON.stringify([other]));
  dispatchEvent(new StorageEvent('storage', { key: 'delivery filters' }));
  views.save({ name: 'Mine', query: 'q=mine' });
  expect(JSON.parse(localStorage.getItem('delivery filters') ?? '')).toEqual([
    other,
    { name: 'Mine', query: 'q=mine' },
  ]);
});
