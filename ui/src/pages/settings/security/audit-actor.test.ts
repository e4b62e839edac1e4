import { expect, test } from 'vitest';
import { actorInWords } from './audit-actor';

test('a person of a channel has a name, and no internal one without it', () => {
  const actor = 'channel telegram person 42';
  expect(actorInWords(actor, undefined, new Map([[actor, 'Ada through My phone']]))).toBe('Ada through My phone');
  expect(actorInWords(actor, undefined, new Map())).toBe('42 through telegram');
  expect(actorInWords('channel telegram', undefined, new Map())).toBe('Channel telegram');
});
