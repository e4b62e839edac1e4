import { expect, it } from 'vitest';
import { productName } from './product';

it('calls a sender by its own name', () => {
  expect(productName({ name: 'Code host A (GitHub)' })).toBe('GitHub');
  expect(productName({ name: 'Slack' })).toBe('Slack');
});
