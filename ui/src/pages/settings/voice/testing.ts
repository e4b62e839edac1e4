// Tests a provider with the cheapest request that needs its key: one spoken word, or a second of silence.
import { Failure } from '../../../client/failure';
import { rpc } from '../../../client/rpc';
import { m } from '../../../paraglide/messages.js';
import type { Role } from './providers';

const RATE = 16_000;

/** A second of silence as a WAV file (16 bit, one channel, 16 kHz), in base64. */
export function silence(): string {
  const bytes = new Uint8Array(44 + RATE * 2);
  const view = new DataView(bytes.buffer);
  const text = (at: number, value: string) => bytes.set(new TextEncoder().encode(value), at);
  text(0, 'RIFF');
  view.setUint32(4, bytes.length - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, RATE, true);
  view.setUint32(28, RATE * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, RATE * 2, true);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Throws why the provider does not work. A fallback that answers instead does not count. */
export async function testProvider(role: Role, provider: string): Promise<void> {
  const { attempts } =
    role === 'tts'
      ? // The time makes the text new, so that the answer does not come from the cache.
        await rpc('tts.convert', { provider, text: `${m.voice_test_word()} ${new Date().toISOString().slice(14, 19)}` })
      : await rpc('stt.transcribe', { provider, audio: silence() });
  const own = attempts.find((attempt) => attempt.provider === provider);
  if (own && !own.ok) throw new Failure(own.code ?? 'PROVIDER_FAILED', own.message ?? m.parts_error_unknown());
}
