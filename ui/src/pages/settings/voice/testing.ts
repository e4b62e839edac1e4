// Tests a provider and describes the result of its last request.
import { Failure } from '../../../client/failure';
import type { LastUse } from '../../../client/generated/rpc';
import { rpc } from '../../../client/rpc';
import { m } from '../../../paraglide/messages.js';
import type { Provider, Role } from './providers';

/** A local program may first have to load a large model. */
const LONGEST_TEST_MS = 120_000;

/**
 * Makes the provider speak one word or transcribe one second of silence. Uses the given key, which is not stored, or
 * else the stored key. Does not throw if the provider fails.
 */
export const testProvider = (role: Role, provider: string, key: string | null = null): Promise<LastUse> =>
  rpc('voice.test', { kind: role, provider, key }, { timeout_ms: LONGEST_TEST_MS });

/** Returns a sentence that says what a test does and that it may cost money. */
export const costs = (role: Role): string =>
  role === 'tts' ? m.voice_test_costs_speech() : m.voice_test_costs_transcript();

/** Returns the result of a provider's test as a sentence without a subject. */
export const proof = (role: Role): string => (role === 'tts' ? m.voice_tested_speech() : m.voice_tested_transcript());

export const isKeyRejected = ({ status }: Pick<LastUse, 'status'>): boolean => status === 401 || status === 403;

/** The error of a request that failed. */
export const failureOf = ({ code, message }: LastUse): Failure =>
  new Failure(code ?? 'PROVIDER_FAILED', message ?? m.parts_error_unknown());

/** Returns the reason of a failed request, with the vendor's own sentence. */
export function reason(use: LastUse): string {
  const { message: text } = failureOf(use);
  return use.providerMessage ? m.voice_provider_says({ text, sentence: use.providerMessage }) : text;
}

/** Returns the remedy, or null if the reason contains it. */
export function advice(use: LastUse, { needs }: Pick<Provider, 'needs'>): string | null {
  const { code, status } = use;
  if (code === 'NOT_CONFIGURED') return null;
  if (isKeyRejected(use)) return m.voice_advice_key();
  if (status === 402 || status === 429) return m.voice_advice_account();
  if (status) return status >= 500 ? m.voice_advice_later() : m.voice_advice_settings();
  return needs === 'api_key' || needs === 'endpoint' ? m.voice_advice_reach() : m.voice_advice_program();
}
