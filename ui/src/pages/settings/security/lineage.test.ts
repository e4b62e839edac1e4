import { expect, it } from 'vitest';
import { createdBy, descendants, type Holders } from './lineage';

const holders: Holders = {
  keys: [
    { id: 'a', label: 'first', made_by: 'session s' },
    { id: 'b', label: 'second', made_by: 'api_key a' },
    { id: 'x', label: 'old', made_by: null },
    // Same ID as the device that created it.
    { id: 'd', label: 'below', made_by: 'device d' },
  ],
  devices: [{ id: 'd', label: 'tablet', made_by: 'api_key b' }],
};

it('finds all that ends with a credential', () => {
  const labels = (...makers: string[]) => descendants(makers, holders).map(({ label }) => label);
  expect(labels('api_key a')).toEqual(['second', 'tablet', 'below']);
  expect(labels('session s')).toEqual(['first', 'second', 'tablet', 'below']);
  expect(labels('session s', 'api_key a')).toHaveLength(4);
  expect(labels('api_key d')).toEqual([]);
  expect(labels('api_key x', 'session other')).toEqual([]);
});

it('finds what was created in a session of a passkey of a key', () => {
  const chain: Holders = {
    keys: [
      { id: 'a', label: 'first', made_by: 'session s' },
      { id: 'b', label: 'second', made_by: 'session t' },
    ],
    devices: [],
    passkeys: [{ id: 'p', label: 'laptop', made_by: 'api_key a' }],
    sessions: [{ id: 's' }, { id: 't', made_by: 'api_key a' }],
  };
  const labels = (maker: string, stays?: string) => descendants([maker], chain, stays).map(({ label }) => label);
  expect(labels('api_key a')).toEqual(['laptop', 'second']);
  expect(labels('session s')).toEqual(['first', 'laptop', 'second']);
  expect(labels('session s', 't')).toEqual(['first', 'laptop']);
  expect(labels('session t')).toEqual(['second']);
});

it('says who created a key', () => {
  const said = (maker: string | null | undefined) => createdBy(maker, holders, 's')('now');
  expect(said('api_key a')).toBe('Created now by API key “first”');
  expect(said('device d')).toBe('Created now by device “tablet”');
  expect(said('session s')).toBe('Created now in this session');
  expect(said('session t')).toBe('Created now in another session');
  expect(said('cli')).toBe('Created now on the command line');
  expect(said('loopback')).toBe('Created now without a login');
  expect(said('password')).toBe('Created now');
  expect(said(null)).toBe('Created now');
  expect(said(undefined)).toBe('Created now');
});
