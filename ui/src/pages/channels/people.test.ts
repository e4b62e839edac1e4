import { describe, expect, test } from 'vitest';
import type { ChannelPairing } from '../../client/generated/rpc';
import { inOrder, receives } from './people';

const person = (id: string, more: Partial<ChannelPairing>): ChannelPairing => ({
  id,
  account: 'telegram',
  person: id,
  name: id,
  trusted: false,
  ...more,
});

describe('the people of a channel', () => {
  const now = Date.parse('2026-01-01T12:00:00Z');
  const waits = (id: string, expires_at: string) => person(id, { code: 'ABCD-2345', expires_at });

  test('those who wait come first, and a code that has expired is left out', () => {
    const people = [
      person('1', { name: 'Zoe', approved_at: '2025-01-01T00:00:00Z' }),
      person('2', { name: 'Ada', approved_at: '2025-01-01T00:00:00Z' }),
      waits('3', '2026-01-01T12:00:00.001Z'),
      waits('4', '2026-01-01T12:00:00Z'),
      waits('5', '2026-01-01T12:30:00Z'),
    ];
    expect(inOrder(people, now).map(({ id }) => id)).toEqual(['5', '3', '2', '1']);
  });

  test('only a channel whose switch is on receives', () => {
    expect(receives({ fields: { inbound: true } })).toBe(true);
    expect(receives({ fields: { inbound: false } })).toBe(false);
    expect(receives({ fields: {} })).toBe(false);
  });
});
