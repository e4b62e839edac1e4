import { expect, it } from 'vitest';
import { productName, senderName } from './product';

it('calls a sender by its own name', () => {
  expect(productName({ name: 'Code host A (GitHub)' })).toBe('GitHub');
  expect(productName({ name: 'Slack' })).toBe('Slack');
});

it('the profile for any sender has the name of the choice', () => {
  expect(senderName({ id: 'generic', name: 'Generic' })).toBe('Anything else');
  expect(senderName({ id: 'codehost_a', name: 'Code host A (GitHub)' })).toBe('GitHub');
});
