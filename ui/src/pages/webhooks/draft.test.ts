import { expect, it } from 'vitest';
import type { ProfileInfo } from '../../client/generated/rpc';
import { allowedTools, changes, creation, emptyDraft, inputOf, proposedGuard, type Draft } from './draft';

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
