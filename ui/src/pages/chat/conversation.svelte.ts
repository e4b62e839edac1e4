// The state of a conversation: stored messages, live events, and messages that are not confirmed yet.
import { SvelteMap } from 'svelte/reactivity';
import { deleted, isFailure, type Failure } from '../../client/failure';
import { rpc, type EventParams, type Result } from '../../client/rpc';
import { awaited } from '../../state/awaited';
import { Attached, type Attachment } from './attached.svelte';
import { draftOf, keepDraft } from './drafts';
import { LiveTurn } from './liveTurn.svelte';
import { merge, turnsOf, type Message, type Turn } from './turns';

const PAGE = 50;

type Running = NonNullable<Result<'chat.history'>['running']>;

/** A message from the user. */
export interface Input {
  text: string;
  audio_id?: string;
  attachments?: readonly Attachment[];
}

/** A message that the gateway has not confirmed yet, or has refused. */
export class Pending {
  error = $state<Failure | null>(null);
  turn = $state<string | null>(null);

  constructor(
    readonly key: number,
    readonly input: Input,
    /** IDs of the messages loaded before it was sent. */
    readonly known: ReadonlySet<string>,
    /** The turn that the message replaces, with all later turns. */
    readonly replaces: string | null,
  ) {}
}

export class Conversation {
  #id = $state<string | null>(null);
  messages = $state.raw<readonly Message[]>([]);
  pending = $state.raw<readonly Pending[]>([]);
  readonly live = new SvelteMap<string, LiveTurn>();
  #draft = $state('');
  /** The files of the next message. They do not survive a reload of the page. */
  files = $state.raw<readonly Attached[]>([]);
  #editing = $state<string | null>(null);
  /** The unsent draft and files at the time when the user began to edit a turn. */
  #aside: { draft: string; files: readonly Attached[] } | null = null;
  /** The agent for further messages; `null` means the session's agent. */
  agent = $state<string | null>(null);
  /** The model for messages sent from this page; `null` means the agent's model. */
  model = $state<string | null>(null);
  ready = $state(false);
  error = $state.raw<unknown>(null);
  olderError = $state.raw<unknown>(null);
  loadingOlder = $state(false);
  stopping = $state(false);
  /** Cursor of the next older page. */
  #before = $state<string | null>(null);
  #shown: Turn[] = [];
  #arrived: Set<string> | null = null;
  /**
   * Whether another load was requested while one was running. The answer of the running load may be
   * outdated.
   */
  #again = false;
  #next = 1;
  /** Settles when all messages sent so far are accepted or refused. */
  #sending: Promise<unknown> = Promise.resolve();

  readonly turns = $derived.by(() => (this.#shown = turnsOf(this.messages, this.#shown)));
  readonly busy = $derived([...this.live.values()].some((turn) => turn.running));

  constructor(id: string | null) {
    this.#id = id;
    this.ready = id === null;
    this.#draft = draftOf(id);
  }

  /** `null` until the first message creates the session. */
  get id(): string | null {
    return this.#id;
  }

  /** The draft of a new conversation becomes the draft of its session. */
  #become(id: string): void {
    if (this.#id === id) return;
    keepDraft(this.#id, '');
    this.#id = id;
    this.#keep();
  }

  /** Unsent text. It survives a reload of the page, except for the text of an edited turn. */
  get draft(): string {
    return this.#draft;
  }

  set draft(text: string) {
    this.#draft = text;
    this.#keep();
  }

  #keep(): void {
    keepDraft(this.#id, this.#aside ? this.#aside.draft : this.#draft);
  }

  /** The turn whose text is being edited. The next message replaces it. */
  get editing(): string | null {
    return this.#editing;
  }

  /** Sets the unsent message aside, and shows a turn's text and files instead. */
  edit(turn: string, text: string, files: readonly Attached[]): void {
    this.#aside ??= { draft: this.#draft, files: this.files };
    this.#editing = turn;
    this.draft = text;
    this.files = files;
  }

  /** Restores the unsent message. Returns the turn that was edited, if any. */
  endEdit(): string | null {
    const turn = this.#editing;
    const aside = this.#aside;
    this.#editing = null;
    this.#aside = null;
    if (aside) {
      this.draft = aside.draft;
      this.files = aside.files;
    }
    return turn;
  }

  get hasOlder(): boolean {
    return this.#before !== null;
  }

  /** Whether the conversation can be discarded without losing anything. */
  get idle(): boolean {
    return (
      !this.busy && this.editing === null && this.draft === '' && this.files.length === 0 && this.pending.length === 0
    );
  }

  /** Loads the newest messages, at first and after a reconnect. */
  async load(): Promise<void> {
    if (this.id === null) return;
    if (this.#arrived) {
      this.#again = true;
      return;
    }
    this.#again = false;
    const arrived = (this.#arrived = new Set<string>());
    try {
      const page = await rpc('chat.history', { session: this.id, limit: PAGE });
      const merged = merge(this.messages, page.messages, arrived);
      this.messages = merged.messages;
      if (!merged.keepsOlder) this.#before = page.next_cursor ?? null;
      this.error = null;
      this.ready = true;
      if (page.running) this.#join(page.running, arrived);
      this.#end();
      this.#settle();
    } catch (error) {
      this.error = error;
    } finally {
      this.#arrived = null;
    }
    if (this.#again) await this.load();
  }

  async loadOlder(): Promise<void> {
    if (this.id === null || this.#before === null || this.loadingOlder) return;
    this.loadingOlder = true;
    this.olderError = null;
    try {
      const page = await rpc('chat.history', { session: this.id, limit: PAGE, before: this.#before });
      const there = new Set(this.messages.map((message) => message.id));
      this.messages = [...page.messages.filter((message) => !there.has(message.id)), ...this.messages];
      this.#before = page.next_cursor ?? null;
    } catch (error) {
      this.olderError = error;
    } finally {
      this.loadingOlder = false;
    }
  }

  /** Creates the session without a message, because a recording must belong to a session. */
  make(): Promise<void> {
    return this.#inOrder(async () => {
      if (this.id === null) this.#become((await rpc('sessions.create', { agent: this.agent })).id);
    });
  }

  /**
   * Sends a message. The result appears in the conversation. With `replaces`, the gateway first deletes that
   * turn and all later ones.
   */
  async send(input: Input, replaces: string | null = null): Promise<void> {
    const known = new Set(this.messages.map((message) => message.id));
    const pending = new Pending(this.#next++, input, known, replaces);
    this.pending = [...this.pending, pending];
    await this.deliver(pending);
  }

  /** Sends a pending message, including one that failed before. */
  deliver(pending: Pending): Promise<void> {
    pending.error = null;
    return this.#inOrder(() => this.#deliver(pending));
  }

  /** Runs `send` after all earlier messages were sent, because the first message creates the session for the others. */
  #inOrder(send: () => Promise<void>): Promise<void> {
    const sent = this.#sending.then(send);
    this.#sending = sent.catch(() => undefined);
    return sent;
  }

  async #deliver(pending: Pending): Promise<void> {
    // The message was discarded, or the gateway has received it.
    if (!this.pending.includes(pending)) return;
    try {
      const { attachments = [], ...input } = pending.input;
      const sent = await rpc('chat.send', {
        ...input,
        ...(attachments.length > 0 ? { attachments: attachments.map(({ id }) => id) } : {}),
        session: this.id,
        agent: this.agent,
        model: this.model,
        replaces: pending.replaces,
      });
      this.#become(sent.session);
      if (pending.replaces) this.#remove(pending.replaces, sent.turn_id);
      pending.turn = sent.turn_id;
      awaited.add(sent.turn_id);
      if (!this.live.has(sent.turn_id)) this.live.set(sent.turn_id, new LiveTurn());
      this.#settle();
    } catch (error) {
      if (!isFailure(error)) throw error;
      pending.error = error;
    }
  }

  /** Deletes a turn: its text and all answers to it. */
  async delete(turn: Turn): Promise<void> {
    if (this.id === null) return;
    await deleted(rpc('chat.delete', { session: this.id, turn_id: turn.id }));
    if (this.editing === turn.id) this.endEdit();
    this.messages = this.messages.filter((message) => message.turn_id !== turn.id);
    this.live.delete(turn.id);
  }

  /** Removes a replaced turn and all later turns, except the turn that replaced it. */
  #remove(turn: string, except: string): void {
    const first = this.turns.findIndex(({ id }) => id === turn);
    if (first < 0) return;
    const gone = new Set(this.turns.slice(first).map(({ id }) => id));
    gone.delete(except);
    this.messages = this.messages.filter((message) => !gone.has(message.turn_id));
    for (const id of gone) this.live.delete(id);
  }

  /** Puts a refused message back into the composer, before text that the user has typed since. */
  takeBack(pending: Pending): void {
    this.pending = this.pending.filter((one) => one !== pending);
    const { text, attachments = [] } = pending.input;
    const files = attachments.map((file) => Attached.again(this.id ?? '', file));
    const { replaces } = pending;
    if (replaces !== null && this.turns.some(({ id }) => id === replaces)) return this.edit(replaces, text, files);
    // An edit of another message is ended, so its text does not mix with this one.
    this.endEdit();
    this.draft = [text, this.draft].filter((one) => one !== '').join('\n\n');
    this.files = [...files, ...this.files];
  }

  async stop(): Promise<void> {
    if (this.id === null) return;
    this.stopping = true;
    try {
      await rpc('chat.abort', { session: this.id });
    } finally {
      this.stopping = false;
    }
  }

  /** The connection is lost, so the state of running turns is unknown. */
  forget(): void {
    for (const [id, turn] of this.live) if (turn.running) this.live.delete(id);
  }

  hearMessage(message: Message): void {
    this.#arrived?.add(message.id);
    // A message arrives again if it was interrupted while it was spoken.
    const known = this.messages.findIndex((one) => one.id === message.id);
    this.messages = known < 0 ? [...this.messages, message] : this.messages.with(known, message);
    // A known message does not begin a turn, because its turn may have ended.
    const turn = known < 0 ? this.#turn(message.turn_id) : this.live.get(message.turn_id);
    if (message.role === 'assistant') turn?.clear();
    this.#settle();
  }

  hearDelta({ turn_id, text, at }: EventParams<'chat.delta'>): void {
    this.#turn(turn_id).hear(text, at);
  }

  hearTool({ turn_id, id, name, state, summary }: EventParams<'chat.tool'>): void {
    const turn = this.#turn(turn_id);
    turn.heard_ms = Date.now();
    turn.tools.set(id, { name, state, summary });
  }

  hearDone({ turn_id, usage }: EventParams<'chat.done'>): void {
    const turn = this.#turn(turn_id);
    turn.running = false;
    turn.usage = usage;
  }

  hearAudio({ message_id, recording, error }: EventParams<'chat.audio'>): void {
    const message = this.messages.find((one) => one.id === message_id);
    // An answer belongs to the running turn until its message is stored.
    const turn = message
      ? this.#turn(message.turn_id)
      : [...this.live.values()].find((one) => one.running && one.text !== '');
    if (turn) {
      turn.speech = message_id;
      if (error) turn.audioError = error.message;
    }
    if (message && recording) {
      const spoken = { ...message, audio: recording };
      this.messages = this.messages.map((one) => (one === message ? spoken : one));
    }
  }

  #turn(id: string): LiveTurn {
    const known = this.live.get(id);
    if (known) return known;
    const turn = new LiveTurn();
    this.live.set(id, turn);
    return turn;
  }

  /** Continues a turn that was already running when the page was loaded. */
  #join({ turn_id, text }: Running, arrived: ReadonlySet<string>): void {
    const turn = this.#turn(turn_id);
    if (!turn.running) return;
    // If the answer was stored in the meantime, `text` is an earlier state of the answer.
    const stored = this.messages.some(
      (one) => arrived.has(one.id) && one.turn_id === turn_id && one.role === 'assistant',
    );
    if (!stored && text) turn.catchUp(text);
    const at = this.turns.findIndex((one) => one.id === turn_id);
    for (const waiting of this.turns.slice(at + 1)) if (!waiting.answered) this.#turn(waiting.id);
  }

  /** Ends turns whose final answer is stored; their `chat.done` event may have been missed. */
  #end(): void {
    for (const [id, turn] of this.live) {
      const last = this.messages.findLast((one) => one.turn_id === id);
      if (!turn.running || last?.role !== 'assistant' || last.tool_calls?.length) continue;
      turn.clear();
      turn.running = false;
    }
  }

  /** Removes pending messages that have arrived in the conversation. */
  #settle(): void {
    if (this.pending.length === 0) return;
    const turns = new Set(this.messages.map((message) => message.turn_id));
    this.pending = this.pending.filter((one) => {
      if (one.turn !== null) return !turns.has(one.turn);
      // The message is not confirmed, or its answer was lost, so it is compared by text. Any other error means that it
      // was refused.
      if (one.error && !isFailure(one.error, 'LOST', 'TIMED_OUT', 'OFFLINE')) return true;
      const { text } = one.input;
      return !this.messages.some(({ id, role, content }) => role === 'user' && content === text && !one.known.has(id));
    });
  }
}
