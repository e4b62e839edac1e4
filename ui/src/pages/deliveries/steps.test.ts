import { expect, test } from 'vitest';
import type { Delivery, Status } from './status';
import { stepsOf } from './steps';

const AT = '2026-11-21T17:00:00.000Z';
const delivery = (status: Status, more: Partial<Delivery> = {}): Delivery => ({
  id: 'del_1',
  webhook_id: 'hook',
  status,
  received_at: AT,
  attempts: 0,
  headers: {},
  body_size: 2,
  body_preview: '{}',
  response_actions: [],
  ...more,
});
const agent = { verifies: true, forwards: false };
const states = (one: Delivery, ways = agent) => stepsOf(one, ways).map(({ id, state }) => `${id} ${state}`);
const begun = { attempts: 1, started_at: AT };

test('a delivery that never ran ends where it was stopped', () => {
  expect(states(delivery('rejected'))).toEqual(['received done', 'verified failed']);
  expect(states(delivery('filtered')).at(-1)).toBe('filtered off');
  expect(states(delivery('deduplicated')).at(-1)).toBe('duplicate off');
  expect(stepsOf(delivery('queued'), { verifies: false, forwards: false })[1]?.state).toBe('off');
});

test('an agent works, and its answer is sent only if it has a target', () => {
  expect(states(delivery('queued')).slice(2)).toEqual(['queued open', 'worked todo']);
  expect(states(delivery('processing', begun)).slice(2)).toEqual(['queued done', 'worked open']);
  const done = { ...begun, outcome: 'Fine.', finished_at: AT };
  expect(states(delivery('completed', done)).slice(3)).toEqual(['worked done', 'ended done']);
  const sending = delivery('processing', { ...begun, outcome: 'Fine.', target: 'slack:ops' });
  expect(states(sending).slice(3)).toEqual(['worked done', 'sent open']);
  const failed = delivery('failed', { ...done, target: 'slack:ops' });
  expect(states(failed).slice(3)).toEqual(['worked done', 'sent failed', 'ended failed']);
});

test('a forwarded delivery is sent without an agent', () => {
  const ways = { verifies: true, forwards: true };
  const sent = delivery('completed', { ...begun, target: 'inbox', delivered_at: AT, finished_at: AT });
  expect(states(sent, ways).slice(2)).toEqual(['queued done', 'sent done', 'ended done']);
});
