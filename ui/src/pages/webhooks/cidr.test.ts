import { expect, it } from 'vitest';
import { entries, isNetwork } from './cidr';

it.each(['10.0.0.0/8', '192.0.2.7', '::1', '2001:db8::/32', '::ffff:192.0.2.1', '0.0.0.0/0'])('%s is one', (text) =>
  expect(isNetwork(text)).toBe(true),
);

it.each(['', 'banana', '10.0.0.0/33', '10.0.0', '256.1.1.1', '::/129', '1.2.3.4/8/9', 'fe80::1%eth0', '10.0.0.0/'])(
  '%s is none',
  (text) => expect(isNetwork(text)).toBe(false),
);

it('reads what stands between commas, spaces and lines', () =>
  expect(entries(' 10.0.0.0/8,::1\n192.0.2.7 ')).toEqual(['10.0.0.0/8', '::1', '192.0.2.7']));
