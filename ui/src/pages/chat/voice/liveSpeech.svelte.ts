// Plays the parts of a spoken answer as they arrive, in sequence and without gaps.
import { send } from '../../../client/http';
import type { EventParams } from '../../../client/rpc';
import { socket } from '../../../client/socket';
import { place } from '../../../state/place.svelte';
import { plays } from '../../../voice/playing';
import { setSpeechPlayer } from '../speaking';

type Part = EventParams<'chat.audio'>;

/** The time in which a browser must allow playback before the user is asked. */
const PERMISSION_MS = 300;
/** The time between a part's arrival and its sound. Without it, the beginning would be cut off. */
const LEAD_SECONDS = 0.03;
const STEP_MS = 200;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export class LiveSpeech {
  /** `held`: the browser does not allow playback before the user presses play. */
  state = $state<'playing' | 'paused' | 'held' | 'ended'>('playing');
  /** The seconds that were heard, and the seconds that have arrived. */
  at = $state(0);
  length = $state(0);
  /** All parts have been announced. */
  complete = $state(false);
  /** Resolves when the speech has ended. */
  readonly over: Promise<void>;

  #context: AudioContext | null = null;
  /** When the next part begins, on the context's clock. */
  #next = 0;
  #announced = -1;
  #loading = 0;
  #order: Promise<void> = Promise.resolve();
  #timer = 0;
  #end: () => void = () => {};
  readonly #sources = new Set<AudioBufferSourceNode>();
  readonly #gone = new AbortController();

  /**
   * Creates the speech of a message. `before` is the speech of an earlier message, which is played
   * to its end first.
   */
  constructor(
    readonly session: string,
    readonly message: string,
    before: LiveSpeech | null,
  ) {
    this.over = new Promise((resolve) => (this.#end = resolve));
    if (before) this.#order = before.over;
  }

  /** Adds a part. The last event may repeat a part that was already added. */
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

  /** Ends the speech after a lost connection. Parts that were not announced yet are lost. */
  cut(): void {
    this.complete = true;
    this.#endIfOver();
  }

  pause(): void {
    if (this.state !== 'playing') return;
    this.state = 'paused';
    void this.#context?.suspend();
  }

  /** Continues playback. After `held`, this must be called from a click. */
  async play(): Promise<void> {
    if (this.state === 'ended') return;
    this.state = 'playing';
    // A message that waits for an earlier one has no context yet.
    if (!this.#context) return;
    plays(this);
    await this.#context.resume();
  }

  /** Stops the sound immediately and drops audio that was not played. */
  stop(): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.#gone.abort();
    clearInterval(this.#timer);
    for (const source of this.#sources) source.stop();
    this.#sources.clear();
    void this.#context?.close();
    this.#context = null;
    this.#end();
  }

  async #load(audio_id: string): Promise<void> {
    try {
      const url = `/api/sessions/${encodeURIComponent(this.session)}/audio/${encodeURIComponent(audio_id)}`;
      const answer = await send('get', url, { signal: this.#gone.signal });
      const bytes = await answer.arrayBuffer();
      if (this.#gone.signal.aborted) return;
      const context = await this.#open();
      if (this.#gone.signal.aborted) return;
      const sound = await context.decodeAudioData(bytes);
      if (!this.#gone.signal.aborted) this.#schedule(context, sound);
    } catch {
      // The recording of the whole answer has its own player, and that player shows the error.
    } finally {
      this.#loading--;
      this.#endIfOver();
    }
  }

  async #open(): Promise<AudioContext> {
    if (this.#context) return this.#context;
    const context = (this.#context = new AudioContext());
    if (this.state === 'paused') {
      await context.suspend();
    } else {
      plays(this);
      await this.#start(context);
    }
    if (!this.#gone.signal.aborted) this.#timer = window.setInterval(() => this.#measure(), STEP_MS);
    return context;
  }

  async #start(context: AudioContext): Promise<void> {
    // Without permission, `resume` does not settle.
    await Promise.race([context.resume(), wait(PERMISSION_MS)]);
    if (context.state === 'suspended' && this.state === 'playing') this.state = 'held';
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
  /**
   * The messages that are being spoken in this window, in order. A turn with tool calls has several
   * messages.
   */
  speeches = $state.raw<LiveSpeech[]>([]);

  /** The speech of a message that has not ended. */
  of(message: string): LiveSpeech | null {
    return this.speeches.find((one) => one.message === message && one.state !== 'ended') ?? null;
  }

  /** Ends the sound at once, and drops the queued speech. */
  stop(): void {
    // The last speech is stopped first, because the end of a speech starts the next one.
    for (const one of this.speeches.toReversed()) one.stop();
  }

  /**
   * Ends each speech after the parts that have arrived. Otherwise, the next speech would wait for parts that never
   * arrive.
   */
  cut(): void {
    for (const one of this.speeches) if (one.state !== 'ended') one.cut();
  }

  hear(part: Part): void {
    const known = this.speeches.find((one) => one.message === part.message_id);
    if (known) return known.add(part);
    // A speech is joined only at its beginning, and only the focused window speaks.
    if (!part.audio_id || part.part > 0 || place.path !== `/chat/${part.session}` || !document.hasFocus()) return;
    if (this.speeches.some(({ session }) => session !== part.session)) this.stop();
    const others = this.speeches.filter(({ state }) => state !== 'ended');
    const speech = new LiveSpeech(part.session, part.message_id, others.at(-1) ?? null);
    this.speeches = [...others, speech];
    speech.add(part);
  }
}

export const live = new Live();
setSpeechPlayer(live);
socket.watch((state) => {
  if (state === 'lost') live.cut();
});
