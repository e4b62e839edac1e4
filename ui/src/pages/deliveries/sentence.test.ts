import { expect, test } from 'vitest';
import { eventOf } from './event';
import { outcomeOf } from './sentence';

const done = { status: 'completed' as const };
const shop = { name: 'Shop', source_profile: 'shopify' };

test('what happened is the stored sentence, or else the event and its subject', () => {
  expect(eventOf({ summary: 'ada opened #7', event_type: 'pull_request' }, shop)).toBe('ada opened #7');
  expect(eventOf({ event_type: 'order', entity_key: 'generic:shop:12' }, shop)).toBe('order shop 12');
  expect(eventOf({}, shop)).toBe('Request to Shop');
  expect(eventOf({}, null)).toBe('Request');
});

test('what became of it is the answer, the channel, or the reason why it failed', () => {
  expect(outcomeOf({ ...done, outcome: '**Looks** good' }, 'Reviewer')).toBe('Reviewer: Looks good');
  expect(outcomeOf({ ...done, outcome: 'Fine' }, null)).toBe('Fine');
  expect(outcomeOf({ ...done, outcome: 'Order 7', target: 'slack:ops' }, null)).toBe('slack:ops: Order 7');
  const sent = { ...done, outcome: 'Order 7', target: 'slack:ops', channel: 'Operations' };
  expect(outcomeOf(sent, null)).toBe('Operations: Order 7');
  expect(outcomeOf({ ...done, target: 'inbox' }, null)).toBe('sent to Inbox');
  expect(outcomeOf({ status: 'queued', target: 'inbox' }, null)).toBe('');
  expect(outcomeOf({ status: 'filtered' }, null)).toContain('ignores events of this type');
  const unmet = 'The payload filter is not met: pull_request.draft equals false.';
  expect(outcomeOf({ status: 'filtered', error: unmet }, null)).toBe(unmet);
  expect(outcomeOf({ status: 'rejected', error: 'wrong_signature' }, null)).toContain('The signature does not match.');
});
