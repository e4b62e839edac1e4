// Synthesizes a text and keeps the audio and the details of the answer.
import { revokeLater } from '../../../parts/objectUrl';
import { rpc, type Params, type Result } from '../../../client/rpc';

export interface Spoken {
  result: Result<'tts.convert'>;
  blob: Blob;
  url: string;
}

export class Speaker {
  busy = $state(false);
  error = $state.raw<unknown>(null);
  speech = $state.raw<Spoken | null>(null);
  #asking: AbortController | null = null;

  async speak(params: Params<'tts.convert'>): Promise<void> {
    this.cancel();
    const own = (this.#asking = new AbortController());
    this.busy = true;
    this.error = null;
    try {
      const result = await rpc('tts.convert', params, { signal: own.signal, timeout_ms: 120_000 });
      if (own !== this.#asking) return;
      this.#forget();
      const blob = new Blob([bytesOf(result.audio)], { type: result.mimeType });
      this.speech = { result, blob, url: URL.createObjectURL(blob) };
    } catch (error) {
      if (own !== this.#asking) return;
      this.#forget();
      if (!own.signal.aborted) this.error = error;
    } finally {
      if (own === this.#asking) this.busy = false;
    }
  }

  cancel(): void {
    this.#asking?.abort();
    this.#asking = null;
    this.busy = false;
  }

  drop(): void {
    this.cancel();
    this.#forget();
    this.error = null;
  }

  #forget(): void {
    if (this.speech) revokeLater(this.speech.url);
    this.speech = null;
  }
}

/** Decodes base64. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
