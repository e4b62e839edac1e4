import { expect, test } from 'vitest';
import type { SettingDescription } from '../../../client/generated/rpc';
import { groupLabel, kindOf, limitsOf, parse, typed, unitOf, withUnit } from './settings';

test.each([
  [true, 'flag'],
  [2.5, 'number'],
  [['a', 'b'], 'list'],
  [{ A: '1' }, 'object'],
  ['text', 'text'],
] as const)('%j is shown and typed back', (value, kind) => {
  expect(kindOf(value)).toBe(kind);
  expect(parse(typed(value), kind)).toEqual(value);
});

test('what does not fit is left to the gateway', () => {
  expect(parse('many', 'number')).toBe('many');
  expect(parse('', 'number')).toBe('');
  expect(parse('{', 'object')).toBe('{');
  expect(parse(' a \n\n b', 'list')).toEqual(['a', 'b']);
  expect(kindOf(null)).toBe('text');
});

test('the unit is in the name', () => {
  expect([unitOf('webhooks.retention_days'), unitOf('a.timeout_ms'), unitOf('server.bind')]).toEqual([
    'days',
    'ms',
    '',
  ]);
});

test('a number is shown with its unit, other values as they are', () => {
  const at = (key: string, value: never) => withUnit({ key, value, origin: 'default', secret: false });
  expect(at('server.max_body_bytes', 10_485_760 as never)).toBe('10,485,760 bytes (10 MiB)');
  expect(at('server.max_body_bytes', 10_485_761 as never)).toBe('10,485,761 bytes');
  expect(at('server.max_body_bytes', 1023 as never)).toBe('1,023 bytes');
  expect(at('server.max_body_bytes', 1024 as never)).toBe('1,024 bytes (1 KiB)');
  expect(at('server.max_body_bytes', 1_099_511_627_776 as never)).toBe('1,099,511,627,776 bytes (1 TiB)');
  expect(at('server.max_body_bytes', 0 as never)).toBe('0 bytes');
  expect(at('webhooks.workers', 4 as never)).toBe('4');
  expect(at('log.level', 'info' as never)).toBe('info');
});

test('a group has a heading, and an unknown one its name', () => {
  expect([groupLabel('webhooks'), groupLabel('auth'), groupLabel('toString')]).toEqual([
    'Webhooks',
    'Login',
    'toString',
  ]);
});

test('range, permitted values and default are said in words', () => {
  const described = (more: Partial<SettingDescription>): SettingDescription => ({
    key: 'webhooks.retention_days',
    doc: '',
    kind: 'whole',
    default: null,
    secret: false,
    change: 'live',
    admin: false,
    confirmed: false,
    ...more,
  });
  expect(limitsOf(described({ min: 1, max: 3650, default: 30 }))).toEqual(['1 to 3,650 days', 'Default: 30 days']);
  expect(limitsOf(described({ min: 0 }))).toEqual(['At least 0 days']);
  expect(limitsOf(described({ key: 'log.level', kind: 'text', one_of: ['info', 'warn'], default: 'info' }))).toEqual([
    'One of: info, warn',
    'Default: info',
  ]);
  expect(limitsOf(described({ key: 'server.name', kind: 'text' }))).toEqual([]);
});
