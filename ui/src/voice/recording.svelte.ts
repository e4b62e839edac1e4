// Microphone recording: permission, loudness, duration and the recorded bytes.

/** Why recording is not possible. */
export type Hindrance = 'insecure' | 'unsupported' | 'refused' | 'missing' | 'busy';

/** Maximum duration of a recording. */
export const MAX_SECONDS = 600;
/** Maximum size of a recording that the gateway accepts. */
export const MAX_BYTES = 25 * 1024 * 1024;
/** Seconds of silence before the user is warned. */
const SILENT_SECONDS = 3;
const SILENCE = 0.04;
const LEVELS = 40;
const STEP_MS = 80;
const TYPES = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus', 'audio/webm'];

export interface Recorded {
  blob: Blob;
  seconds: number;
  /** Whether the recording reached the maximum duration or size. */
  full: boolean;
}

export class Recording {
  state = $state<'idle' | 'asking' | 'recording'>('idle');
  hindrance = $state<Hindrance | null>(null);
  seconds = $state(0);
  /** The latest loudness values from 0 to 1, with the newest last. */
  levels = $state.raw<readonly number[]>(Array<number>(LEVELS).fill(0));
  silent = $state(false);

  #stream: MediaStream | null = null;
  #recorder: MediaRecorder | null = null;
  #context: AudioContext | null = null;
  #timer = 0;
  #attempt = 0;
  /** Receives the recording in place of `onend`. */
  #taken: ((made: Recorded) => void) | null = null;
  #full = false;
  readonly #onend: (made: Recorded) => void;

  /** `onend` receives each recording that `stop` or a limit ends. */
  constructor(onend: (made: Recorded) => void) {
    this.#onend = onend;
  }

  get level(): number {
    return this.levels.at(-1) ?? 0;
  }

  /** Asks for the microphone and starts recording. Returns whether recording started. */
  async start(): Promise<boolean> {
    this.drop();
    const attempt = ++this.#attempt;
    this.hindrance = hindranceOf();
    if (this.hindrance) return false;
    this.state = 'asking';
    let stream: MediaStream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch (error) {
      if (attempt !== this.#attempt) return false;
      this.hindrance = named((error as DOMException).name);
      this.state = 'idle';
      return false;
    }
    if (attempt !== this.#attempt) {
      // The user canceled before answering the browser's permission prompt.
      for (const track of stream.getTracks()) track.stop();
      return false;
    }
    this.#stream = stream;
    this.#record(stream);
    return true;
  }

  #record(stream: MediaStream): void {
    const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type));
    const recorder = new MediaRecorder(stream, { audioBitsPerSecond: 48_000, ...(mimeType ? { mimeType } : {}) });
    const parts: Blob[] = [];
    let bytes = 0;
    recorder.ondataavailable = ({ data }) => {
      parts.push(data);
      bytes += data.size;
      if (bytes > MAX_BYTES - 512 * 1024) this.#end(true);
    };
    recorder.onstop = () => {
      if (this.#recorder !== recorder) return;
      const blob = new Blob(parts, { type: (recorder.mimeType || mimeType || '').split(';')[0] ?? '' });
      const made = { blob, seconds: this.seconds, full: this.#full };
      const give = this.#taken ?? this.#onend;
      this.drop();
      give(made);
    };
    // If the microphone is unplugged, the recording ends but is kept.
    stream.getTracks()[0]?.addEventListener('ended', () => this.#end(false));
    recorder.start(1000);
    this.#recorder = recorder;
    this.state = 'recording';
    this.#measure(stream);
  }

  #measure(stream: MediaStream): void {
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    analyser.fftSize = 1024;
    context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const begun = performance.now();
    let heard = begun;
    // With reduced motion, the meter updates less often.
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.#context = context;
    this.#timer = window.setInterval(
      () => {
        const now = performance.now();
        analyser.getFloatTimeDomainData(samples);
        const level = loudness(samples);
        if (level > SILENCE) heard = now;
        this.levels = [...this.levels.slice(1), level];
        this.silent = now - heard > SILENT_SECONDS * 1000;
        this.seconds = (now - begun) / 1000;
        if (this.seconds >= MAX_SECONDS) this.#end(true);
      },
      calm ? 500 : STEP_MS,
    );
  }

  #end(full: boolean): void {
    if (this.#recorder?.state !== 'recording') return;
    this.#full = full;
    this.#recorder.stop();
  }

  /** Ends the recording and passes it to `onend`. */
  stop(): void {
    this.#end(false);
  }

  /** Ends the recording and returns it without calling `onend`. Returns null if there is none. */
  take(): Promise<Recorded | null> {
    if (this.#recorder?.state !== 'recording') return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#taken = resolve;
      this.#end(false);
    });
  }

  /** Discards the recording and releases the microphone. */
  drop(): void {
    this.#attempt++;
    const recorder = this.#recorder;
    this.#recorder = null;
    if (recorder && recorder.state !== 'inactive') recorder.stop();
    this.#release();
    this.state = 'idle';
    this.hindrance = null;
    this.#taken = null;
    this.#full = false;
    this.silent = false;
    this.seconds = 0;
    this.levels = Array<number>(LEVELS).fill(0);
  }

  #release(): void {
    clearInterval(this.#timer);
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#stream = null;
    void this.#context?.close();
    this.#context = null;
  }
}

export function hindranceOf(): Hindrance | null {
  if (typeof navigator.mediaDevices?.getUserMedia !== 'function') return isSecureContext ? 'unsupported' : 'insecure';
  return typeof MediaRecorder === 'function' ? null : 'unsupported';
}

export function named(error: string): Hindrance {
  if (error === 'NotFoundError' || error === 'OverconstrainedError') return 'missing';
  if (error === 'NotReadableError' || error === 'AbortError') return 'busy';
  return 'refused';
}

/** Returns the loudness of samples, from 0 (60 dB below full scale or quieter) to 1. */
export function loudness(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  const decibels = 10 * Math.log10(sum / samples.length + 1e-12);
  return Math.min(1, Math.max(0, (decibels + 60) / 60));
}
