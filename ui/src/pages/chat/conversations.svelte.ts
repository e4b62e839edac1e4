// The conversations that are open in this window, and what is heard of all others: which work, which have something new.
import { SvelteSet } from 'svelte/reactivity';
import type { EventName, EventParams } from '../../client/rpc';
import { socket } from '../../client/socket';
import { Conversation } from './conversation.svelte';

type Heard = { [E in EventName & `chat.${string}`]: { event: E; params: EventParams<E> } }[EventName &
  `chat.${string}`];

/** How many are kept besides those with something in them that would be lost. */
const KEPT = 12;

class Conversations {
  /** Sessions in which an agent works. */
  readonly working = new SvelteSet<string>();
  /** Sessions in which something was said that was not looked at. */
  readonly unread = new SvelteSet<string>();
  #kept = new Map<string, Conversation>();
  #fresh = new Conversation(null);
  #visible: Conversation | null = null;
  #early: Heard[] = [];
  #beginning = 0;
  #wasOpen = false;

  constructor() {
    socket.on('chat.message', (params) => this.#hear({ event: 'chat.message', params }));
    socket.on('chat.delta', (params) => this.#hear({ event: 'chat.delta', params }));
    socket.on('chat.tool', (params) => this.#hear({ event: 'chat.tool', params }));
    socket.on('chat.done', (params) => this.#hear({ event: 'chat.done', params }));
    this.#wasOpen = socket.isOpen;
    socket.watch((state) => {
      if (state === 'lost') this.#lose();
      if (state !== 'open') return;
      if (this.#wasOpen) this.#reload();
      this.#wasOpen = true;
    });
  }

  /** The conversation of a session, or the one that has none yet; its newest messages are asked for. */
  open(id: string | null): Conversation {
    const there = id === null ? this.#fresh : this.#kept.get(id);
    const conversation = there ?? new Conversation(id);
    if (id !== null) {
      // What was looked at last stands last.
      this.#kept.delete(id);
      this.#kept.set(id, conversation);
      if (!there) this.#tidy();
    }
    return conversation;
  }

  /** What the person looks at; `null` when they left the page. */
  look(conversation: Conversation | null): void {
    this.#visible = conversation;
    if (conversation?.id) this.unread.delete(conversation.id);
  }

  /** Gives a new conversation its session, by its first text or without one; `null` when that was refused. */
  async begin(conversation: Conversation, make: () => Promise<void>): Promise<string | null> {
    this.#beginning += 1;
    try {
      await make();
      const { id } = conversation;
      if (id === null) return null;
      this.#kept.set(id, conversation);
      if (this.#fresh === conversation) this.#fresh = new Conversation(null);
      // What was heard of it before its name was known.
      for (const heard of this.#early) if (heard.params.session === id) this.#tell(conversation, heard);
      return id;
    } finally {
      this.#beginning -= 1;
      if (this.#beginning === 0) this.#early = [];
    }
  }

  /** The session was deleted. */
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
    } else if (heard.event !== 'chat.message' || heard.params.role === 'user') {
      this.working.add(session);
    }
  }

  #tell(conversation: Conversation, { event, params }: Heard): void {
    if (event === 'chat.message') conversation.hearMessage(params);
    else if (event === 'chat.delta') conversation.hearDelta(params);
    else if (event === 'chat.tool') conversation.hearTool(params);
    else conversation.hearDone(params);
  }

  #lose(): void {
    this.working.clear();
    for (const conversation of this.#kept.values()) conversation.forget();
  }

  /** Events were missed: what is looked at is asked anew now, the others when they are looked at. */
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
