import { afterEach, expect, it } from 'vitest';
import type { ProfileInfo } from '../../client/generated/rpc';
import { overwriteGetLocale } from '../../paraglide/runtime.js';
import { check } from './check';
import { afterSave, allowedTools, changes, creation, emptyDraft, inputOf, proposedGuard, type Draft } from './draft';

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

const draft = (said: Partial<Draft>): Draft => ({ ...emptyDraft(), name: 'n', profile: 'generic', ...said });

it('tells only what is not the default', () => {
  expect(creation(draft({}))).toEqual({
    name: 'n',
    source_profile: 'generic',
    enabled: true,
    events: { allow: [], deny: [] },
    deliver_only: false,
    session_mode: 'per_delivery',
    auth_mode: 'static_header',
    replay_guard: 'key',
    redeliver_failed: true,
    rate_limit_per_minute: 60,
    on_limit: 'refuse',
    max_body_bytes: 1_048_576,
  });
});

it('sends only what changed, and null for what was emptied', () => {
  const before = draft({ cidrs: '10.0.0.0/8', agent: 'a' });
  expect(changes(before, { ...before })).toBeNull();
  expect(changes(before, { ...before, cidrs: ' ', name: ' m ' })).toEqual({ name: 'm', allowed_cidrs: null });
});

it('puts events into the list that the choice names', () => {
  const said = { picked: ['push'], others: 'issues.*, a', never: 'b' };
  expect(inputOf(draft({ ...said, filter: 'only' })).events).toEqual({ allow: ['push', 'issues.*', 'a'], deny: ['b'] });
  expect(inputOf(draft({ ...said, filter: 'except' })).events).toEqual({ allow: [], deny: ['push', 'issues.*', 'a'] });
  expect(inputOf(draft({ ...said, filter: 'all' })).events).toEqual({ allow: [], deny: [] });
});

it('sends the conditions on the payload, and none for a schedule', () => {
  const conditions = [{ path: 'a.b', is: 'equals' as const, value: 'true', or: false }];
  const payload_filter = [{ path: 'a.b', is: 'equals', value: true }];
  expect(changes(draft({}), draft({ conditions }))).toEqual({ payload_filter });
  expect(changes(draft({ conditions }), draft({}))).toEqual({ payload_filter: null });
  expect(inputOf(draft({ conditions, profile: 'schedule' })).payload_filter).toBeNull();
  const missing = [{ path: '', is: 'equals' as const, value: '', or: false }];
  expect(check(draft({ conditions: missing }))['payload_filter.0.path']).toBeDefined();
  expect(check(draft({ conditions: missing, profile: 'schedule' }))['payload_filter.0.path']).toBeUndefined();
});

it('sends the answer of an agent only where a channel is named', () => {
  const answer = { answerTo: 'slack:team', answerTemplate: '{n}: {answer}', target: 'log', template: 't' };
  const sent = ({ deliver_to, prompt_template }: ReturnType<typeof inputOf>) => [deliver_to, prompt_template];
  expect(sent(inputOf(draft(answer)))).toEqual(['slack:team', '{n}: {answer}']);
  expect(sent(inputOf(draft({ ...answer, forward: true })))).toEqual(['log', 't']);
  expect(sent(inputOf(draft({})))).toEqual([null, null]);
});

it('sends a JSON body without other values, to the channel that it was chosen for', () => {
  const json = { isJson: true, target: 'http:a', template: '"{b}"', extra: { c: 'd' } };
  const sent = (said: Partial<Draft>) => {
    const { template_format, deliver_extra } = inputOf(draft(said));
    return [template_format, deliver_extra];
  };
  expect(sent({ ...json, forward: true })).toEqual(['json', null]);
  expect(sent({ ...json, forward: true, isJson: false })).toEqual([null, { c: 'd' }]);
  expect(sent(json)).toEqual([null, { c: 'd' }]);
  expect(sent({ answerIsJson: true, answerTo: 'http:a' })).toEqual(['json', null]);
  expect(sent({ answerIsJson: true, answerTo: '' })).toEqual([null, null]);
});

it('keeps an own secret out where there is none', () => {
  expect(creation(draft({ ownSecret: true, secret: 's' })).secret).toBe('s');
  expect(creation(draft({ ownSecret: false, secret: 's' })).secret).toBeUndefined();
  expect(creation(draft({ ownSecret: true, secret: 's', mode: 'none' })).secret).toBeUndefined();
});

it('proposes the replay guard of the profile, except where the ID is signed, or nothing', () => {
  const profile = { replay_guard: 'bytes' } as ProfileInfo;
  expect(proposedGuard(profile, 'codehost_a_hmac_sha256')).toBe('bytes');
  expect(proposedGuard(profile, 'standard_webhooks')).toBe('key');
  expect(proposedGuard(profile, 'bearer')).toBe('key');
  expect(proposedGuard(undefined, 'codehost_a_hmac_sha256')).toBe('key');
});

it('reads tool policies as the gateway does', () => {
  expect(allowedTools(null)).toEqual([]);
  expect(allowedTools({ allow: [], deny: [] })).toEqual(['calc', 'web_search', 'web_fetch']);
  expect(allowedTools({ allow: ['*'], deny: ['web_*'] })).toEqual(['calc']);
  expect(allowedTools({ allow: ['calc', 'shell'], deny: [] })).toEqual(['calc']);
});

it('keeps what was typed while it was saved, without the secret that is stored', () => {
  const stored = draft({ name: 'Stored' });
  const sent = draft({ ownSecret: true, secret: 'whsec_own' });
  expect(afterSave({ ...sent }, sent, stored)).toBe(stored);
  const typed = afterSave({ ...sent, name: 'Typed since' }, sent, stored);
  expect(typed).toEqual(draft({ name: 'Typed since' }));
  expect(check(typed).secret).toBeUndefined();
  const other = { ...sent, secret: 'whsec_other' };
  expect(afterSave(other, sent, stored)).toEqual({ ...other, name: 'Stored' });
  const chosen = draft({ ownSecret: true });
  expect(afterSave(chosen, draft({}), stored)).toEqual({ ...chosen, name: 'Stored' });
});

it('shows what another window changed in the fields that were not typed in since', () => {
  const sent = draft({ name: 'Sent', rate: '60', cidrs: '' });
  const stored = draft({ name: 'Sent', rate: '10', cidrs: '192.0.2.1', enabled: false });
  const typed = afterSave({ ...sent, cidrs: '192.0.2.2' }, sent, stored);
  expect(typed).toEqual({ ...stored, cidrs: '192.0.2.2' });
  expect(changes(stored, typed)).toEqual({ allowed_cidrs: ['192.0.2.2'] });
});

it('reads numbers with the separators of the language, as its errors show them', () => {
  const schedule = { ...emptyDraft().schedule, kind: 'every' as const, unit: 'seconds' as const };
  for (const [locale, many, part] of [
    ['en', '25,600', '1.953'],
    ['de', '25.600', '1,953'],
  ] as const) {
    overwriteGetLocale(() => locale);
    const typed = draft({ rate: many, maxKib: many, profile: 'schedule', schedule: { ...schedule, every: many } });
    expect(check(typed)).toEqual({});
    const input = inputOf(typed);
    expect([input.rate_limit_per_minute, input.max_body_bytes]).toEqual([25_600, 25_600 * 1024]);
    expect(input.schedule?.every_seconds).toBe(25_600);
    expect(inputOf(draft({ maxKib: part })).max_body_bytes).toBe(2000);
    for (const wrong of ['', '0', 'x', '25601']) expect(check(draft({ maxKib: wrong })).max_body_bytes).toBeDefined();
    for (const wrong of ['', '0', '1.5', '1000001']) {
      expect(check(draft({ rate: wrong })).rate_limit_per_minute).toBeDefined();
    }
  }
});
