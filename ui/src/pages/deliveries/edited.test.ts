import { describe, expect, test } from 'vitest';
import { changesOf, placesOf, waysOf } from './edited';
import type { Delivery } from './status';

const delivery = (more: Partial<Delivery>): Delivery => ({
  id: 'del_1',
  webhook_id: 'hook',
  status: 'completed',
  received_at: '2026-11-21T17:00:00.000Z',
  attempts: 1,
  headers: {},
  body_size: 2,
  body_preview: '{}',
  response_actions: [],
  ...more,
});

describe('what a replay changes', () => {
  test('only what differs is sent', () => {
    const same = { before: '{}', text: '{}', target: '' };
    expect(changesOf(same)).toEqual({});
    expect(changesOf({ ...same, text: '{ }' })).toEqual({ payload: '{ }' });
    expect(changesOf({ ...same, target: 'agent agent_1' })).toEqual({ agent: 'agent_1' });
    expect(changesOf({ ...same, text: '', target: 'channel slack:ops' })).toEqual({
      payload: '',
      deliver_to: 'slack:ops',
    });
  });

  test('a built-in channel is named by its type alone, and a channel that is off cannot be chosen', () => {
    const channel = (id: string, type: string, enabled = true) => ({ id, type, label: id, enabled });
    const places = placesOf(
      [{ id: 'default', name: 'Assistant' }],
      [channel('inbox', 'inbox'), channel('ops', 'slack', false)],
    );
    expect(places.map(({ value }) => value)).toEqual(['', 'agent default', 'channel inbox', 'channel slack:ops']);
    expect(places.at(-1)).toMatchObject({ disabled: true });
  });
});

describe('the way of a delivery', () => {
  const forwarding = { auth_mode: 'bearer', deliver_only: true, deliver_to: 'slack:ops' };
  const asking = { auth_mode: 'bearer', deliver_only: false, deliver_to: null };

  test('is the webhook’s, if nothing was changed', () => {
    expect(waysOf(delivery({ target: 'slack:ops' }), forwarding)).toEqual({
      verifies: true,
      forwards: true,
      deliverTo: 'slack:ops',
      answerTo: 'slack:ops',
    });
    expect(waysOf(delivery({ session_id: 'ses' }), asking)).toMatchObject({ forwards: false, deliverTo: null });
    expect(waysOf(delivery({}), undefined).verifies).toBeNull();
  });

  test('an edited payload was not verified', () => {
    expect(waysOf(delivery({ edited: ['payload'], target: 'slack:ops' }), forwarding)).toMatchObject({
      verifies: false,
      deliverTo: 'slack:ops',
    });
  });

  test('another target is where it went', () => {
    const elsewhere = delivery({ edited: ['target'], target: 'inbox' });
    expect(waysOf(elsewhere, asking)).toMatchObject({ verifies: true, forwards: true, deliverTo: 'inbox' });
    const asked = delivery({ edited: ['target'], session_id: 'ses' });
    expect(waysOf(asked, forwarding)).toMatchObject({ forwards: false, deliverTo: null, answerTo: null });
  });
});
