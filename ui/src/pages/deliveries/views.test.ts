import { expect, it } from 'vitest';
import { viewOf } from './views';

it('keeps the filters of an address, and nothing else', () => {
  expect(viewOf('?q=checkout&range=week&tab=payload&status=failed')).toBe('status=failed&q=checkout');
  expect(viewOf('?restored=1&status=queued')).toBe('status=queued&restored=1');
  expect(viewOf('')).toBe('');
});
