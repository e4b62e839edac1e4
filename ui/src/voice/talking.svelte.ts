// A spoken conversation over `/ws/talk`. Sends the microphone audio, plays the answers and shows the state.
import { Failure, lost, type Details } from '../client/failure';
import { gone, plays } from './playing';
import { hindranceOf, named, type Hindrance } from './recording.svelte';
import { Samples } from './samples';

/** The messages of the gateway; see docs/API-voice.md. */
type ServerMessage =
  | { type: 'ready'; output: { rate?: number } }
  | { type: 'speech_started' | 'speech_ended' | 'turn' | 'session' | 'spoken' }
  | { type: 'transcript'; text: string }
  | { type: 'part'; text: string }
  | { type: 'approval' | 'waiting' | 'approval_ended' }
  | { type: 'interrupted' }
  | { type: 'answer'; stop: string; error?: Problem; audio_error?: Problem }
  | { type: 'error'; error: Problem };
type Problem = { code: string; message: string } & Details;

export type TalkState = 'closed' | 'connecting' | 'listening' | 'hearing' | 'thinking' | 'speaking' | 'failed';

/** The rate that speech recognition needs. */
const RATE = 16_000;
const NORMAL_CLOSURE = 1000;

export class Talking {
  state = $state<TalkState>('closed');
  hindrance = $state<Hindrance | null>(null);
  error = $state.raw<unknown>(null);
  /** The last recognized text, and the text that is being spoken. */
  heard = $state('');
  said = $state('');

  #stream: MediaStream | null = null;
  #input: AudioContext | null = null;
  #output: Samples | null = null;
  #socket: WebSocket | null = null;
  #attempt = 0;
  /** Whether a turn is running and its answer was not interrupted. */
  #answering = false;
  /** Whether audio that arrives belongs to an answer that was interrupted. */
  #muted = false;

  get open(): boolean {
    return this.state !== 'closed';
  }

  /** Opens the microphone and begins a conversation in this session. */
  async start(session: () => Promise<string>): Promise<void> {
    this.close();
    const attempt = ++this.#attempt;
    this.hindrance = hindranceOf();
    if (this.hindrance) return this.#fail();
    this.state = 'connecting';
    let stream: MediaStream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({
        audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
      });
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.hindrance = named((error as DOMException).name);
      return this.#fail();
    }
    // The user ended the conversation before answering the browser's permission prompt.
    if (attempt !== this.#attempt) {
      for (const track of stream.getTracks()) track.stop();
      return;
    }
    this.#stream = stream;
    try {
      const id = await session();
      // The conversation was ended and its stream released in the meantime.
      if (attempt !== this.#attempt) return;
      await this.#connect(id, stream);
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.error = error;
      this.#fail();
    }
  }

  async #connect(session: string, stream: MediaStream): Promise<void> {
    const attempt = this.#attempt;
    const { context, source } = listenTo(stream);
    this.#input = context;
    await context.audioWorklet.addModule(new URL('./microphone.worklet.js', import.meta.url));
    if (attempt !== this.#attempt) return;
    const microphone = new AudioWorkletNode(context, 'microphone', { numberOfOutputs: 0 });
    const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/talk`;
    const socket = (this.#socket = new WebSocket(url));
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: 'start', session, input: { rate: context.sampleRate } }));
    };
    microphone.port.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
      if (this.#output && socket.readyState === WebSocket.OPEN) socket.send(data);
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === 'string') this.#received(JSON.parse(data) as ServerMessage);
      else this.#play(data);
    };
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.error ??= lost();
      this.#fail();
    };
    source.connect(microphone);
    await context.resume();
    // The microphone was unplugged.
    stream.getTracks()[0]?.addEventListener('ended', () => {
      this.hindrance = 'missing';
      this.#fail();
    });
  }

  #received(sent: ServerMessage): void {
    switch (sent.type) {
      case 'ready':
        this.#output = new Samples(sent.output.rate ?? 24_000, () => this.#quiet());
        plays(this);
        this.state = 'listening';
        break;
      case 'speech_started':
        this.state = 'hearing';
        break;
      case 'speech_ended':
        this.state = 'thinking';
        break;
      case 'transcript':
        this.heard = sent.text;
        this.said = '';
        if (sent.text === '') this.state = 'listening';
        break;
      case 'turn':
        this.#answering = true;
        this.#muted = false;
        break;
      case 'part':
        this.said = sent.text;
        break;
      case 'interrupted':
        this.#output?.stop();
        this.#answering = false;
        this.#muted = true;
        if (this.state === 'speaking' || this.state === 'thinking') this.state = 'listening';
        break;
      case 'answer':
        this.#answering = false;
        if (sent.error && sent.stop !== 'aborted') this.error = failed(sent.error);
        else if (sent.audio_error) this.error = failed(sent.audio_error);
        this.#quiet();
        break;
      case 'error':
        this.error = failed(sent.error);
        if (this.state === 'thinking') this.state = 'listening';
    }
  }

  #play(bytes: ArrayBuffer): void {
    if (this.#muted) return;
    this.error = null;
    this.state = 'speaking';
    this.#output?.add(bytes);
  }

  /** Listens again unless the answer continues. Called when playback has ended. */
  #quiet(): void {
    if (this.#output?.playing) return;
    if (this.state === 'speaking' || this.state === 'thinking') this.state = this.#answering ? 'thinking' : 'listening';
  }

  /** Stops the answer. */
  pause(): void {
    this.#output?.stop();
    this.#answering = false;
    this.#muted = true;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ type: 'stop' }));
    if (this.state === 'speaking' || this.state === 'thinking') this.state = 'listening';
  }

  #fail(): void {
    this.#release();
    this.state = 'failed';
  }

  #release(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(NORMAL_CLOSURE);
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#stream = null;
    void this.#input?.close();
    this.#input = null;
    this.#output?.close();
    this.#output = null;
    this.#answering = false;
    this.#muted = false;
  }

  /** Ends the conversation and releases the microphone. */
  close(): void {
    this.#attempt++;
    this.#release();
    if (this.open) gone(this);
    this.state = 'closed';
    this.hindrance = null;
    this.error = null;
    this.heard = '';
    this.said = '';
  }
}

const failed = ({ code, message, ...details }: Problem) => new Failure(code, message, details);

/** Uses the sample rate of speech recognition if the browser can, or else the rate of the microphone. */
function listenTo(stream: MediaStream): { context: AudioContext; source: MediaStreamAudioSourceNode } {
  const context = new AudioContext({ sampleRate: RATE });
  try {
    return { context, source: context.createMediaStreamSource(stream) };
  } catch {
    void context.close();
    const other = new AudioContext();
    return { context: other, source: other.createMediaStreamSource(stream) };
  }
}
