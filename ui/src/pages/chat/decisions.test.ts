import { expect, test } from 'vitest';
import type { Result } from '../../client/rpc';
import { decisionOn } from './decisions';
import type { Message } from './turns';

type Row = Result<'audit.list'>['events'][number];

const at = (second: number) => `2026-01-01T00:00:0${second}Z`;
const output = (tool_status?: Message['tool_status']): Message => ({
  id: 'msg_1',
  session: 'ses_1',
  turn_id: 'turn_1',
  role: 'tool',
  origin: 'configured',
  content: '',
  tool: 'web_fetch',
  tool_status,
  created_at: at(5),
});
const row = (second: number, allow: boolean, session = 'ses_1'): Row => ({
  id: `evt_${second}`,
  at: at(second),
  kind: 'approval.resolved',
  actor: `session as_${second}`,
  client_ip: null,
  detail: { tool: 'web_fetch', session, allow },
});

test('a decision lies between the message before the output and the output', () => {
  expect(decisionOn(output('denied'), at(2), [row(6, false), row(1, false), row(3, false, 'ses_2')])).toBe(null);
  expect(decisionOn(output('denied'), at(2), [row(2, false)])?.at).toBe(at(2));
  expect(decisionOn(output('denied'), at(2), [row(5, false)])?.at).toBe(at(5));
});

test('of calls that waited at the same time, each has the decision that matches how it ended', () => {
  const rows = [row(4, false), row(3, true)];
  expect(decisionOn(output('denied'), at(2), rows)).toEqual({ allowed: false, actor: 'session as_4', at: at(4) });
  for (const status of ['ok', 'error'] as const) expect(decisionOn(output(status), at(2), rows)?.allowed).toBe(true);
  expect(decisionOn(output(), at(2), rows)?.at).toBe(at(4));
});
