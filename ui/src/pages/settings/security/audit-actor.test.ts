import { expect, test } from 'vitest';
import { actorInWords } from './audit-actor';

test('sessions, keys and devices have different names, also after their end', () => {
  const labels = new Map([
    ['as_1', 'Firefox on Linux, Mar 1, 2026, 9:00 AM'],
    ['key_1', 'script'],
  ]);
  const say = (actor: string) => actorInWords(actor, 'as_own', labels);
  expect(say('session as_own')).toBe('You (this session)');
  expect(say('session as_1')).toBe('Session Firefox on Linux, Mar 1, 2026, 9:00 AM');
  expect(say('session as_0190a5f0-1111-7000-8000-0123456789ab')).toBe('Session …6789ab');
  expect(say('api_key key_1')).toBe('API key script');
  expect(say('device dev_gone')).toBe('Device dev_gone');
});

test('a person of a channel has a name, and no internal one without it', () => {
  const actor = 'channel telegram person 42';
  expect(actorInWords(actor, undefined, new Map([[actor, 'Ada through My phone']]))).toBe('Ada through My phone');
  expect(actorInWords(actor, undefined, new Map())).toBe('42 through telegram');
  expect(actorInWords('channel telegram', undefined, new Map())).toBe('Channel telegram');
});
