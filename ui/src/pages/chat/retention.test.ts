import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { overwriteGetLocale } from '../../paraglide/runtime.js';

const rpc = vi.fn();
vi.mock('../../client/rpc', () => ({ rpc }));
const { audioText, retentionQuery, welcomeText } = await import('./retention');

beforeEach(() => {
  rpc.mockReset();
});

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

it.each([
  [{ conversations: 0, audio: 0 }, 'You are talking to “Ada”. Conversations are kept until you delete them.', null],
  [
    { conversations: 1, audio: 0 },
    'You are talking to “Ada”. A conversation is deleted 1 day after its last message, unless it is pinned.',
    null,
  ],
  [
    { conversations: 1000, audio: 1 },
    'You are talking to “Ada”. A conversation is deleted 1,000 days after its last message, unless it is pinned. ' +
      'Audio is kept for at most 1 day.',
    'Audio is kept for at most 1 day.',
  ],
  [
    { conversations: 0, audio: 30 },
    'You are talking to “Ada”. Conversations are kept until you delete them. Audio is kept for at most 30 days.',
    'Audio is kept for at most 30 days.',
  ],
])('says what the settings %o keep', (kept, welcome, audio) => {
  expect(welcomeText('Ada', kept)).toBe(welcome);
  expect(audioText(kept)).toBe(audio);
});

it('says it in German', () => {
  overwriteGetLocale(() => 'de');
  expect(welcomeText('Ada', { conversations: 1, audio: 2 })).toBe(
    'Sie sprechen mit „Ada“. Eine Unterhaltung wird 1 Tag nach ihrer letzten Nachricht gelöscht, außer sie ist ' +
      'angeheftet. Audio wird höchstens 2 Tage aufbewahrt.',
  );
  expect(welcomeText('Ada', { conversations: 2, audio: 1 })).toBe(
    'Sie sprechen mit „Ada“. Eine Unterhaltung wird 2 Tage nach ihrer letzten Nachricht gelöscht, außer sie ist ' +
      'angeheftet. Audio wird höchstens 1 Tag aufbewahrt.',
  );
});

it('says nothing about the time without the settings', async () => {
  expect(welcomeText('Ada', undefined)).toBe('You are talking to “Ada”.');
  expect(audioText(undefined)).toBeNull();
  rpc.mockResolvedValue({ values: [{ key: 'agents.retention_days', value: 3 }] });
  expect(await retentionQuery.queryFn()).toBeNull();
  expect(welcomeText('Ada', null)).toBe('You are talking to “Ada”.');
});

it('reads both settings', async () => {
  rpc.mockResolvedValue({
    values: [
      { key: 'agents.audio_retention_days', value: 7 },
      { key: 'agents.retention_days', value: 0 },
    ],
  });
  expect(await retentionQuery.queryFn()).toEqual({ conversations: 0, audio: 7 });
  expect(rpc).toHaveBeenCalledWith('config.get', {
    keys: ['agents.retention_days', 'agents.audio_retention_days'],
  });
});
