import { expect, it } from 'vitest';
import { viewOf } from './views.svelte';

it('keeps the filters of an address, and nothing else', () => {
  expect(viewOf('?q=checkout&range=week&tab=payload&status=failed')).toBe('status=failed&q=checkout');
  expect(viewOf('')).toBe('');
});
