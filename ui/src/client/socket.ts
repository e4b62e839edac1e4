// The live socket: calls, events and connection state. Reconnects with growing delays (partysocket).
import ReconnectingSocket from 'partysocket/ws';
import { failureOf, isFailure, lost, timedOut, type Details, type Failure } from './failure';
import type { Interface } from './generated/rpc';
import { sameSession, sessionEnded } from './hooks';

export type SocketState = 'connecting' | 'open' | 'lost';

interface Waiting {
  settle: (error: Failure | null, result?: unknown) => void;
}

interface Frame {
  id?: number;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { message: string; data?: { code: string } & Details };
}

/** What the gateway reports about itself on each new connection. */
export type Greeting = Interface['methods']['connect']['result'];

type Listener = (params: never) => void;

class Socket {
  #socket: ReconnectingSocket | null = null;
  #state: SocketState = 'connecting';
  #waiting = new Map<number, Waiting>();
  #listeners = new Map<string, Set<Listener>>();
  #watchers = new Set<(state: SocketState) => void>();
  #next = 1;
  /** From the latest connection. */
  greeting: Greeting | null = null;

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get state(): SocketState {
    return this.#state;
  }

  /** Connects and stays connected until `close`. */
  open(): void {
    if (this.#socket) return;
    const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/chat`;
    const socket = new ReconnectingSocket(url, [], {
      minReconnectionDelay: 500,
      maxReconnectionDelay: 15_000,
      reconnectionDelayGrowFactor: 1.7,
      connectionTimeout: 8_000,
      maxEnqueuedMessages: 0,
    });
    // Late events of an earlier socket can arrive after `close` and `open`, and are ignored.
    const isThis = () => this.#socket === socket;
    socket.addEventListener('open', () => isThis() && void this.#greet());
    socket.addEventListener('message', (event) => isThis() && this.#receive(String(event.data)));
    socket.addEventListener('close', (event) => {
      if (!isThis()) return;
      this.#lose();
      // A refused upgrade looks like a broken connection. A status request distinguishes the two
      // cases.
      void this.#checkSession(event.code);
    });
    this.#socket = socket;
    this.#become('connecting');
    addEventListener('online', this.#again);
    document.addEventListener('visibilitychange', this.#again);
  }

  close(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#lose();
    removeEventListener('online', this.#again);
    document.removeEventListener('visibilitychange', this.#again);
  }

  /** Resolves when the connection is open or has failed. */
  settled(): Promise<void> {
    if (this.#state !== 'connecting' || !this.#socket) return Promise.resolve();
    return new Promise((resolve) => {
      const end = this.watch(() => {
        end();
        resolve();
      });
    });
  }

  /** Reconnects immediately, without the delay. */
  retry(): void {
    if (this.#socket && this.#state !== 'open') this.#socket.reconnect();
  }

  call(
    method: string,
    params: object,
    { signal, timeout_ms = 30_000 }: { signal?: AbortSignal; timeout_ms?: number },
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const id = this.#next++;
      const timer = setTimeout(() => settle(timedOut()), timeout_ms);
      const abort = () => {
        settle(null);
        reject(signal?.reason);
      };
      const settle: Waiting['settle'] = (error, result) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#waiting.delete(id);
        if (error) reject(error);
        else resolve(result);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.set(id, { settle });
      this.#socket?.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  /** Calls `listener` for each event `name`. Returns a function that unsubscribes. */
  on<E extends keyof Interface['events']>(name: E, listener: (params: Interface['events'][E]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener as Listener));
    return () => void listeners.delete(listener as Listener);
  }

  /** Calls `watcher` on each change of the connection state. Returns a function that unsubscribes. */
  watch(watcher: (state: SocketState) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  async #greet(): Promise<void> {
    try {
      const client = { id: 'gatehouse-page', version: '1' };
      this.greeting = (await this.call('connect', { client }, {})) as Greeting;
      this.#become('open');
    } catch (error) {
      // `close` handles lost connections and ended sessions. An open but silent connection is replaced here.
      if (isFailure(error, 'TIMED_OUT')) this.#socket?.reconnect();
    }
  }

  #again = () => {
    if (!document.hidden) this.retry();
  };

  #lose(): void {
    this.#become('lost');
    for (const waiting of this.#waiting.values()) waiting.settle(lost());
    this.#waiting.clear();
  }

  #become(state: SocketState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher(state);
  }

  #receive(text: string): void {
    let frame: Frame;
    try {
      frame = JSON.parse(text) as Frame;
    } catch {
      return;
    }
    if (frame.method) {
      for (const listener of this.#listeners.get(frame.method) ?? []) listener(frame.params as never);
      return;
    }
    const waiting = frame.id === undefined ? undefined : this.#waiting.get(frame.id);
    if (!waiting) return;
    if (frame.error) waiting.settle(failureOf(frame.error));
    else waiting.settle(null, frame.result);
  }

  async #checkSession(code: number): Promise<void> {
    if (!this.#socket) return;
    const isSame = sameSession();
    try {
      const response = await fetch('/api/auth/status', { credentials: 'same-origin', cache: 'no-store' });
      const status = (await response.json()) as { authenticated?: boolean };
      // The socket's credential may have ended while the gateway admits every caller. The page then continues.
      if (!isSame()) return;
      if (status.authenticated === false || (code === 4401 && status.authenticated === undefined)) sessionEnded();
    } catch {
      // The gateway is unreachable. The socket keeps retrying.
    }
  }
}

export const socket = new Socket();
