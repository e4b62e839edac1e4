import { expect, test } from 'vitest';
import { endOf, nearness, entries } from './expiry';

const NOW = Date.parse('2026-03-01T12:00:00Z');

test('ends are counted from now, a date ends with its day', () => {
  expect(endOf('30', '', NOW)).toBe('2026-03-31T12:00:00.000Z');
  expect(endOf('never', '2026-04-01', NOW)).toBeNull();
  expect(endOf('date', '2026-04-01', NOW)).toBe(new Date('2026-04-01T23:59:59').toISOString());
  expect(endOf('date', '', NOW)).toBeNull();
});

test('an end is near within two weeks', () => {
  expect(nearness(null, NOW)).toBe('none');
  expect(nearness('2026-03-16T12:00:00Z', NOW)).toBe('far');
  expect(nearness('2026-03-15T12:00:00Z', NOW)).toBe('near');
  expect(nearness('2026-03-01T12:00:00Z', NOW)).toBe('over');
});

test('entries of a list come by lines, commas or spaces', () => {
  expect(entries(' 10.0.0.0/8,\n2001:db8::/32  192.0.2.1 ')).toEqual(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);
  expect(entries(' \n')).toEqual([]);
});
