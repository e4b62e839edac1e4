import { describe, expect, it } from 'vitest';
import { inWords } from './wording';

describe('a message of the gateway', () => {
  it('names fields and vendors in words, without code marks', () => {
    const refused = inWords('Invalid `expires_at`: must be in the future.', {
      field: 'expires_at',
      reason: 'must be in the future',
    });
    expect(refused).toBe('Expires at: must be in the future.');
    expect(inWords('tts_cloud_2 did not respond in time.', {})).toBe('OpenAI did not respond in time.');
    expect(inWords('The agent `default` always exists.', {})).toBe('The agent “default” always exists.');
  });
});
