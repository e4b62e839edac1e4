import { expect, it } from 'vitest';
import type { LastUse } from '../../../client/generated/rpc';
import { advice, isKeyRejected, reason } from './testing';

const failed = (more: Partial<LastUse>): LastUse => ({
  at: '2026-11-20T08:00:00Z',
  ok: false,
  tested: true,
  code: 'PROVIDER_FAILED',
  ...more,
});
const hosted = { needs: 'api_key' };

it('names the provider, and quotes its sentence', () => {
  const message = 'tts_cloud_2 refused the request (status 400).';
  expect(reason(failed({ message }))).toBe('OpenAI refused the request (status 400).');
  expect(reason(failed({ message, providerMessage: 'No such voice.' }))).toBe(
    'OpenAI refused the request (status 400). The provider says: “No such voice.”',
  );
});

it('says what to do for each kind of failure', () => {
  for (const status of [401, 403]) {
    expect(isKeyRejected(failed({ status }))).toBe(true);
    expect(advice(failed({ status }), hosted)).toContain('key');
  }
  expect(isKeyRejected(failed({ status: 400 }))).toBe(false);
  for (const status of [402, 429]) expect(advice(failed({ status }), hosted)).toContain('account');
  for (const status of [400, 404]) expect(advice(failed({ status }), hosted)).toContain('model');
  expect(advice(failed({ status: 503 }), hosted)).toContain('later');
  expect(advice(failed({ code: 'TIMEOUT' }), { needs: 'endpoint' })).toContain('address');
  expect(advice(failed({}), { needs: 'model_path' })).toContain('program');
  // The message of NOT_CONFIGURED already says which setting to change.
  expect(advice(failed({ code: 'NOT_CONFIGURED' }), hosted)).toBeNull();
});
