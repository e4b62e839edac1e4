// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';

vi.mock('../../../client/http', () => ({ send: () => Promise.reject(new Error('lost')) }));

import { live } from './liveSpeech.svelte';

const part = (message_id: string, more: { last?: boolean; part?: number } = {}) => ({
  session: 'ses_1',
  message_id,
  audio_id: 'aud_1',
  part: 0,
  last: false,
  recording: null,
  error: null,
  ...more,
});

test('a speech whose end was lost with the connection does not hold up the next one', async () => {
  history.replaceState(null, '', '/chat/ses_1');
  const { place } = await import('../../../state/place.svelte');
  place.path = '/chat/ses_1';
  vi.spyOn(document, 'hasFocus').mockReturnValue(true);

  live.hear(part('msg_1'));
  const speech = live.of('msg_1');
  await vi.waitFor(() => expect(speech?.state).toBe('playing'));
  live.cut();
  await speech?.over;
  expect(live.of('msg_1')).toBeNull();
});
