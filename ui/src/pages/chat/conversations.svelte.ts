// The conversations open in this window, and the other sessions with a running agent or unread messages.
import { SvelteSet } from 'svelte/reactivity';
import type { EventName, EventParams } from '../../client/rpc';
import { socket } from '../../client/socket';
import { Conversation } from './conversation.svelte';

type Heard = { [E in EventName & `chat.${string}`]: { event: E; params: EventParams<E> } }[EventName &
  `chat.${string}`];

/** The number of conversations in memory, not counting those with unsaved state. */
const KEPT = 12;

class Conversations {
  /** Sessions in which an agent is working. */
  readonly working = new SvelteSet<string>();
  /** Sessions with messages that the user has not seen. */
  readonly unread = new SvelteSet<string>();
  #kept = new Map<string, Conversation>();
  #fresh = new Conversation(null);
  #visible: Conversation | null = null;
  #early: Heard[] = [];
  #beginning = 0;

  constructor() {
    socket.on('chat.message', (params) => this.#hear({ event: 'chat.message', params }));
    socket.on('chat.delta', (params) => this.#hear({ event: 'chat.delta', params }));
    socket.on('chat.tool', (params) => this.#hear({ event: 'chat.tool', params }));
    socket.on('chat.done', (params) => this.#hear({ event: 'chat.done', params }));
    socket.on('chat.audio', (params) => this.#hear({ event: 'chat.audio', params }));
    // The gateway sends this event if events between the nodes of a cluster may have been lost.
    socket.on('records.changed', ({ what }) => {
      if (what !== 'messages') return;
      this.#lose();
      this.#reload();
    });
    socket.watch((state) => {
      if (state === 'lost') this.#lose();
      // Events before the connection was opened were missed.
      if (state === 'open') this.#reload();
    });
  }

  /** Returns the conversation of a session, or the new one if `id` is null. The caller loads its messages. */
  open(id: string | null): Conversation {
    const there = id === null ? this.#fresh : this.#kept.get(id);
    const conversation = there ?? new Conversation(id);
    if (id !== null) {
      // The conversation is reinserted at the end, because the map is ordered by last use.
      this.#kept.delete(id);
      this.#kept.set(id, conversation);
      if (!there) this.#tidy();
    }
    return conversation;
  }

  /** Sets the conversation on screen, or `null` after the user leaves the page. */
  look(conversation: Conversation | null): void {
    this.#visible = conversation;
    if (conversation?.id) this.unread.delete(conversation.id);
  }

  /** Runs `make`, which creates the session. Returns the session ID, or `null` if it was refused. */
  async begin(conversation: Conversation, make: () => Promise<void>): Promise<string | null> {
    this.#beginning += 1;
    try {
      await make();
      const { id } = conversation;
      if (id === null) return null;
      this.#kept.set(id, conversation);
      if (this.#fresh === conversation) this.#fresh = new Conversation(null);
      // Events that arrived before the session ID was known are replayed.
      for (const heard of this.#early) if (heard.params.session === id) this.#tell(conversation, heard);
      return id;
    } finally {
      this.#beginning -= 1;
      if (this.#beginning === 0) this.#early = [];
    }
  }

  /** Removes a deleted session. */
  drop(id: string): void {
    this.#kept.delete(id);
    this.working.delete(id);
    this.unread.delete(id);
  }

  #hear(heard: Heard): void {
    const { session } = heard.params;
    const conversation = this.#kept.get(session);
    if (conversation) this.#tell(conversation, heard);
    else if (this.#beginning > 0) this.#early.push(heard);
    if (heard.event === 'chat.done') {
      this.working.delete(session);
      if (this.#visible?.id !== session) this.unread.add(session);
    } else if (heard.event === 'chat.audio') {
      // Audio can arrive after the turn has ended, so it does not show that the session is working.
      return;
    } else if (heard.event !== 'chat.message' || heard.params.role === 'user') {
      this.working.add(session);
    }
  }

  #tell(conversation: Conversation, { event, params }: Heard): void {
    if (event === 'chat.message') conversation.hearMessage(params);
    else if (event === 'chat.delta') conversation.hearDelta(params);
    else if (event === 'chat.tool') conversation.hearTool(params);
    else if (event === 'chat.audio') conversation.hearAudio(params);
    else conversation.hearDone(params);
  }

  #lose(): void {
    this.working.clear();
    for (const conversation of this.#kept.values()) conversation.forget();
  }

  /**
   * Reloads the conversation on screen after events were missed while disconnected. Other conversations reload when
   * they are opened.
   */
  #reload(): void {
    void this.#visible?.load();
  }

  #tidy(): void {
    for (const [id, conversation] of this.#kept) {
      if (this.#kept.size <= KEPT) return;
      if (conversation.idle && conversation !== this.#visible) this.#kept.delete(id);
    }
  }
}

export const conversations = new Conversations();
