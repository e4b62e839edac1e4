// Plays the parts of a spoken answer as they arrive, one after the other without gaps.
import { send } from '../../../client/http';
import type { EventParams } from '../../../client/rpc';
import { socket } from '../../../client/socket';
import { place } from '../../../state/place.svelte';
import { plays } from '../../../voice/playing';
import { onQuiet } from '../quiet';

type Part = EventParams<'chat.audio'>;

/** How long a browser may take to allow playback before the user is asked. */
const PERMISSION_MS = 300;
/** Time between a part's arrival and its sound, so that its beginning is not cut off. */
const LEAD_SECONDS = 0.03;
const STEP_MS = 200;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export class LiveSpeech {
  /** `held`: the browser does not allow playback before the user presses play. */
  state = $state<'playing' | 'paused' | 'held' | 'ended'>('playing');
  /** Seconds heard, and seconds that have arrived. */
  at = $state(0);
  length = $state(0);
  /** All parts have been announced. */
  complete = $state(false);

  #context: AudioContext | null = null;
  /** When the next part begins, on the context's clock. */
  #next = 0;
  #announced = -1;
  #loading = 0;
  #order: Promise<void> = Promise.resolve();
  #timer = 0;
  readonly #sources = new Set<AudioBufferSourceNode>();
  readonly #gone = new AbortController();

  constructor(
    readonly session: string,
    readonly message: string,
  ) {}

  /** Takes a part. The last event may repeat one that is known. */
  add({ audio_id, part, last }: Part): void {
    if (this.state === 'ended') return;
    if (audio_id && part > this.#announced) {
      this.#announced = part;
      this.#loading++;
      this.#order = this.#order.then(() => this.#load(audio_id));
    }
    if (last) {
      this.complete = true;
      this.#endIfOver();
    }
  }

  pause(): void {
    if (this.state !== 'playing') return;
    this.state = 'paused';
    void this.#context?.suspend();
  }

  /** Continues. After `held`, it must be called from a click. */
  async play(): Promise<void> {
    if (this.state === 'ended') return;
    this.state = 'playing';
    plays(this);
    await this.#context?.resume();
  }

  /** Ends the sound at once and drops what has not been heard. */
  stop(): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.#gone.abort();
    clearInterval(this.#timer);
    for (const source of this.#sources) source.stop();
    this.#sources.clear();
    void this.#context?.close();
    this.#context = null;
  }

  async #load(audio_id: string): Promise<void> {
    try {
      const url = `/api/sessions/${encodeURIComponent(this.session)}/audio/${encodeURIComponent(audio_id)}`;
      const answer = await send('get', url, { signal: this.#gone.signal });
      const bytes = await answer.arrayBuffer();
      if (this.#gone.signal.aborted) return;
      const context = await this.#open();
      const sound = await context.decodeAudioData(bytes);
      if (!this.#gone.signal.aborted) this.#schedule(context, sound);
    } catch {
      // The recording of the whole answer has its own player, which tells what is wrong.
    } finally {
      this.#loading--;
      this.#endIfOver();
    }
  }

  async #open(): Promise<AudioContext> {
    if (this.#context) return this.#context;
    const context = (this.#context = new AudioContext());
    plays(this);
    this.#timer = window.setInterval(() => this.#measure(), STEP_MS);
    // Without permission, `resume` does not settle.
    await Promise.race([context.resume(), wait(PERMISSION_MS)]);
    if (context.state === 'suspended' && this.state === 'playing') this.state = 'held';
    return context;
  }

  #schedule(context: AudioContext, sound: AudioBuffer): void {
    const source = context.createBufferSource();
    source.buffer = sound;
    source.connect(context.destination);
    this.#next = Math.max(this.#next, context.currentTime + LEAD_SECONDS);
    source.start(this.#next);
    this.#next += sound.duration;
    this.length += sound.duration;
    this.#sources.add(source);
    source.onended = () => {
      this.#sources.delete(source);
      this.#endIfOver();
    };
  }

  #measure(): void {
    if (this.#context) this.at = Math.max(0, this.length - Math.max(0, this.#next - this.#context.currentTime));
  }

  #endIfOver(): void {
    if (this.complete && this.#loading === 0 && this.#sources.size === 0) this.stop();
  }
}

class Live {
  /** The answer that is being spoken in this window. */
  current = $state.raw<LiveSpeech | null>(null);

  constructor() {
    socket.on('chat.audio', (part) => this.#hear(part));
    onQuiet(() => this.current?.stop());
  }

  /** The speech of a message that has not ended. */
  of(message: string): LiveSpeech | null {
    return this.current?.message === message && this.current.state !== 'ended' ? this.current : null;
  }

  #hear(part: Part): void {
    if (this.current?.message === part.message_id) return this.current.add(part);
    // Only the beginning of a speech is joined, and only the focused window speaks.
    if (!part.audio_id || part.part > 0 || place.path !== `/chat/${part.session}` || !document.hasFocus()) return;
    this.current?.stop();
    this.current = new LiveSpeech(part.session, part.message_id);
    this.current.add(part);
  }
}

export const live = new Live();
