import { expect, test } from 'vitest';
import { DAY_MS } from '../../parts/units';
import { needsOf, type Facts } from './needs';

const NOW = Date.parse('2026-03-01T00:00:00Z');
const in_days = (days: number) => new Date(NOW + days * DAY_MS).toISOString();
const QUIET: Facts = {
  sealed: null,
  no_model: false,
  approvals: [],
  failed: 0,
  restored: 0,
  checks: [
    { id: 'backup', ok: true, message: '' },
    { id: 'tls', ok: false, message: '' },
  ],
  api_keys: [],
  devices: [],
  webhooks: [],
  budgets: [],
  servers: [],
};
const budget = (used: number) => ({
  scope: 'all',
  period: 'day' as const,
  tokens: 100,
  used_tokens: used,
  used_cost: 0,
  exhausted: used >= 100,
});
const webhook = (auth: object, enabled = true) => ({
  id: 'wh',
  name: 'Bills',
  enabled,
  auth: { configured: true, ...auth },
});

test('nothing needs the owner of a quiet gateway', () => {
  expect(needsOf(QUIET, NOW)).toEqual([]);
  const far = { ...QUIET, api_keys: [{ id: 'a', label: 'A', expires_at: null }], budgets: [budget(79)] };
  expect(needsOf(far, NOW)).toEqual([]);
});

test('a sealed vault comes first, and a missing model after what failed', () => {
  const facts = { ...QUIET, sealed: 'held' as const, no_model: true, approvals: [1], failed: 1 };
  expect(needsOf(facts, NOW)).toEqual([
    { kind: 'sealed', held: true },
    { kind: 'approvals', count: 1 },
    { kind: 'failed', count: 1 },
    { kind: 'no_model' },
  ]);
  expect(needsOf({ ...QUIET, sealed: 'refused' }, NOW)).toEqual([{ kind: 'sealed', held: false }]);
});

test('a credential is named from 14 days before its end', () => {
  const keys = [14, 14.01, -1].map((days, at) => ({ id: String(at), label: String(at), expires_at: in_days(days) }));
  const found = needsOf({ ...QUIET, api_keys: keys }, NOW);
  expect(found.map((need) => 'id' in need && [need.id, 'over' in need && need.over])).toEqual([
    ['0', false],
    ['2', true],
  ]);
});

test('a budget is named from 80 % on', () => {
  expect(needsOf({ ...QUIET, budgets: [budget(80), budget(100)] }, NOW)).toEqual([
    { kind: 'budget', scope: 'all', share: 0.8, over: false },
    { kind: 'budget', scope: 'all', share: 1, over: true },
  ]);
});

test('a failed or late backup and other urgent health checks are named', () => {
  const checks = [
    { id: 'tls', ok: false, message: '' },
    { id: 'backup', ok: false, urgent: true, message: '' },
    { id: 'disk', ok: false, urgent: true, message: '3 MiB are free.' },
  ];
  expect(needsOf({ ...QUIET, checks, failed: 1 }, NOW)).toEqual([
    { kind: 'failed', count: 1 },
    { kind: 'backup' },
    { kind: 'check', check: { id: 'disk', ok: false, message: '3 MiB are free.' } },
  ]);
  expect(needsOf({ ...QUIET, checks: [] }, NOW)).toEqual([]);
});

test('deliveries that a restored backup holds are counted', () => {
  expect(needsOf({ ...QUIET, restored: 12 }, NOW)).toEqual([{ kind: 'restored', count: 12 }]);
});

test('approvals come first; a disabled webhook needs no secret', () => {
  const facts = {
    ...QUIET,
    approvals: [1, 2],
    failed: 3,
    webhooks: [webhook({ awaits_secret: true }), webhook({ awaits_secret: true }, false)],
    servers: [
      { name: 'files', needs_approval: true },
      { name: 'web', needs_approval: false },
    ],
  };
  expect(needsOf(facts, NOW).map(({ kind }) => kind)).toEqual(['approvals', 'failed', 'secret', 'server']);
});
