// Plays raw samples (16-bit, mono) as they arrive, without gaps.

/** Delay between the arrival of samples and their playback, which bridges small network delays. */
const LEAD_SECONDS = 0.06;

export class Samples {
  #next = 0;
  readonly #context: AudioContext;
  readonly #sources = new Set<AudioBufferSourceNode>();

  /** `onend` is called when everything that arrived has been played. */
  constructor(
    readonly rate: number,
    readonly onend: () => void,
  ) {
    this.#context = new AudioContext();
    void this.#context.resume();
  }

  get playing(): boolean {
    return this.#sources.size > 0;
  }

  add(bytes: ArrayBuffer): void {
    const samples = new Int16Array(bytes);
    if (samples.length === 0) return;
    const buffer = this.#context.createBuffer(1, samples.length, this.rate);
    buffer.copyToChannel(
      Float32Array.from(samples, (sample) => sample / 32768),
      0,
    );
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    this.#next = Math.max(this.#next, this.#context.currentTime + LEAD_SECONDS);
    source.start(this.#next);
    this.#next += buffer.duration;
    this.#sources.add(source);
    source.onended = () => {
      this.#sources.delete(source);
      if (this.#sources.size === 0) this.onend();
    };
  }

  /** Ends the sound at once. */
  stop(): void {
    for (const source of this.#sources) {
      source.onended = null;
      source.stop();
    }
    this.#sources.clear();
    this.#next = 0;
  }

  close(): void {
    this.stop();
    void this.#context.close();
  }
}
