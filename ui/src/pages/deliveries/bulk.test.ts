import { expect, test } from 'vitest';
import { questionOf, replayQuestion, targetsOf, waitingIn } from './bulk';
import type { Status } from './status';

test('a replay of more than one call runs says which part it means', () => {
  expect(replayQuestion(0, 10_000)).toContain('Nothing will be replayed');
  expect(replayQuestion(1, 10_000)).toMatch(/^1 delivery will run again/);
  expect(replayQuestion(10_000, 10_000)).toMatch(/^10,000 deliveries will run again/);
  expect(replayQuestion(10_001, 10_000)).toMatch(/^10,001 deliveries match\. The oldest 10,000 of them will run again/);
});

test('an action applies to the deliveries of its statuses, oldest first, and to unknown ones', () => {
  const known: Record<string, Status> = {
    d: 'queued',
    c: 'processing',
    b: 'completed',
    a: 'failed',
    e: 'filtered',
    f: 'rejected',
  };
  const of = (action: Parameters<typeof targetsOf>[0]) => targetsOf(action, 'fedcba?', (id) => known[id]);
  expect(of('replay')).toEqual(['?', 'a', 'b']);
  expect(of('retry')).toEqual(['?', 'd']);
  expect(of('cancel')).toEqual(['?', 'c', 'd']);
});

test('only waiting deliveries that a filter admits are asked for', () => {
  expect(waitingIn([])).toEqual(['received', 'queued', 'processing']);
  expect(waitingIn(['queued', 'failed'])).toEqual(['queued']);
  expect(waitingIn(['failed'])).toEqual([]);
});

test('the questions say how many', () => {
  expect(questionOf('retry', 1)).toMatch(/^1 waiting delivery is attempted now/);
  expect(questionOf('cancel', 1200)).toMatch(/^1,200 deliveries/);
});
