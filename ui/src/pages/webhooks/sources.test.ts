import { expect, test } from 'vitest';
import type { ProfileInfo } from '../../client/generated/rpc';
import { found, sources } from './sources';

const profile = (id: string, name: string, about: string) =>
  ({ id, name, about, default_auth_mode: 'bearer' }) as unknown as ProfileInfo;
const all = sources([
  profile('generic', 'Generic', 'Anything'),
  profile('codehost_a', 'Code host A (GitHub)', 'Pushes, pull requests, issues'),
  profile('cal_com', 'Cal.com', 'Bookings and meetings'),
  profile('twilio', 'Twilio', 'Text messages and calls'),
  profile('jira', 'Jira', 'Issues, comments, sprints'),
]);
const ids = (typed: string) => found(all, typed).list.map(({ id }) => id);

test('without a search, all known senders are listed', () => {
  for (const typed of ['', '  ']) expect(ids(typed)).toEqual(all.known.map(({ id }) => id));
});

test('a source is found by its name, ID and subject', () => {
  expect(ids('github')).toEqual(['codehost_a']);
  expect(ids('cal.com')).toEqual(['cal_com']);
  expect(ids('uests')).toEqual([]);
  expect(ids('ísSues')).toEqual(['codehost_a', 'jira']);
  expect(ids('issues jira')).toEqual(['jira']);
});

test('a source that is found by its name comes first', () => {
  expect(ids('CAL')).toEqual(['cal_com', 'twilio']);
});

test('those for any sender are apart from the known ones, the plainest first', () => {
  expect(all.any.map(({ id }) => id)).toEqual(['generic', 'standard_webhooks']);
  expect(found(all, 'nosuchservice')).toEqual({ list: [], named: 0 });
  expect(found(all, 'svix')).toEqual({ list: [], named: 1 });
});
