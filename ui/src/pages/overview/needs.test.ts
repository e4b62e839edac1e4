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
  waiting: false,
  checks: [
    { id: 'backup', ok: true, message: '' },
    { id: 'tls', ok: false, message: '' },
  ],
  api_keys: [],
  devices: [],
  webhooks: [],
  budgets: [],
  servers: [],
  channels: [],
  people: [],
  providers: [],
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

test('a delivery that has waited long is named before a paused webhook', () => {
  const webhooks = [{ ...webhook({}), paused: true }];
  expect(needsOf({ ...QUIET, webhooks, waiting: true }, NOW).map(({ kind }) => kind)).toEqual(['waiting', 'paused']);
});

test('approvals come first; a disabled webhook needs no secret', () => {
  const facts = {
    ...QUIET,
    approvals: [1, 2],
    failed: 3,
    webhooks: [
      webhook({ awaits_secret: true }),
      webhook({ awaits_secret: true }, false),
      { ...webhook({}), paused: true },
      { ...webhook({}, false), paused: true },
    ],
    servers: [
      { name: 'files', state: 'connected', needs_approval: true },
      { name: 'web', state: 'connected', needs_approval: false },
    ],
  };
  expect(needsOf(facts, NOW).map(({ kind }) => kind)).toEqual(['approvals', 'failed', 'secret', 'paused', 'server']);
});

test('a rejected or moved key, a channel, a server and waiting people are named', () => {
  const channel = { id: 'ch', label: 'Family bot', enabled: true, inbound_error: 'The token is wrong.' };
  const key = { configured: true, key_for: null, key_rejected: false };
  const facts = {
    ...QUIET,
    providers: [
      { ...key, id: 'openai', key_rejected: true },
      { ...key, id: 'moved', configured: false, key_for: 'https://old.example' },
      { ...key, id: 'anthropic' },
      // A key of the settings is used in place of the stored one.
      { ...key, id: 'given', key_for: 'https://old.example' },
    ],
    channels: [channel, { ...channel, enabled: false }, { ...channel, inbound_error: null }],
    servers: ['failed', 'not_built', 'starting', 'waiting_for_vault', 'connected'].map((state) => ({
      name: state,
      state,
      needs_approval: false,
    })),
    people: [
      { code: 'ABCD-2345', expires_at: new Date(NOW + 1).toISOString() },
      { code: 'ABCD-2346', expires_at: new Date(NOW).toISOString() },
      { code: null },
    ],
  };
  expect(needsOf(facts, NOW)).toEqual([
    { kind: 'rejected_key', label: 'openai' },
    { kind: 'moved_key', label: 'moved' },
    { kind: 'channel', label: 'Family bot' },
    { kind: 'broken_server', label: 'failed' },
    { kind: 'broken_server', label: 'not_built' },
    { kind: 'people', count: 1 },
  ]);
});
