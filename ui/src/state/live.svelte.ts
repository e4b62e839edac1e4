// The state of the live connection, and the events that invalidate cached queries.
import type { QueryClient } from '@tanstack/svelte-query';
import { isFailure } from '../client/failure';
import { keys } from '../client/keys';
import { socket, type SocketState } from '../client/socket';
import { facts, hearVault } from './facts.svelte';
import { refresh } from './session.svelte';
import { throttle, type Throttled } from './throttle';

export const live = $state<{ state: SocketState; since: number | null }>({ state: 'connecting', since: null });

/** Query keys by the field `what` of `records.changed`. */
const RECORDS: Record<string, readonly string[]> = {
  agents: keys.agents,
  approvals: keys.approvals,
  budgets: keys.budgets,
  channels: keys.channels,
  config: keys.config,
  deliveries: keys.deliveries,
  env: keys.env,
  inbox: keys.inbox,
  messages: keys.sessions,
  preferences: keys.preferences,
  providers: keys.providers,
  push: keys.pushes,
  sessions: keys.sessions,
  ssh_keys: keys.sshKeys,
  webhooks: ['webhooks'],
};

/** The kinds of records that hold, use or name a stored secret. */
const STORED = ['agents', 'channels', 'config', 'env', 'providers', 'ssh_keys', 'webhooks'];

/** Limits refetches: a busy sender or many conversations would trigger several per second. */
export const ASKED_AGAIN_MS = 1000;

/** Connects and invalidates stale `queries`. Returns a function that disconnects. */
export function goLive(queries: QueryClient): () => void {
  let wasOpen = false;
  const lists = new Map<string, Throttled>();
  const stale = (queryKey: readonly string[]) => {
    const name = queryKey.join('/');
    const list = lists.get(name) ?? throttle(() => void queries.invalidateQueries({ queryKey }), ASKED_AGAIN_MS);
    lists.set(name, list);
    list();
  };
  /** Repeats queries that HTTP refused because the vault is sealed. The socket may answer them. */
  const askRefused = () =>
    void queries.invalidateQueries({ predicate: ({ state }) => isFailure(state.error, 'VAULT_SEALED') });
  const ends = [
    socket.watch((state) => {
      live.state = state;
      live.since = state === 'lost' ? Date.now() : null;
      if (state !== 'open') return;
      const said = socket.greeting?.vault_status;
      if (said) hearVault(said);
      // Events before this moment were missed, so all visible data is fetched again.
      void queries.invalidateQueries();
      if (wasOpen) void refresh();
      wasOpen = true;
    }),
    socket.on('vault.status', ({ status }) => {
      hearVault(status);
      if (status === 'unsealed') askRefused();
      for (const key of [keys.audit, keys.env, keys.sshKeys, keys.providers, keys.voice]) stale(key);
    }),
    // An unknown kind of record may affect any query, so all of them are invalidated.
    socket.on('records.changed', ({ what }) => {
      stale(RECORDS[what] ?? []);
      // The outcome of a voice provider's last request does not apply to another key.
      if (what === 'providers') stale(keys.voice);
      if (STORED.includes(what)) stale(keys.stored);
      stale(keys.audit);
    }),
    socket.on('auth.changed', () => {
      stale(['auth']);
      stale(keys.audit);
      void refresh();
    }),
    socket.on('webhooks.delivery', () => stale(keys.stats)),
    socket.on('channel.message', () => stale(keys.inbox)),
    socket.on('approval.requested', () => stale(keys.approvals)),
    socket.on('approval.resolved', () => {
      stale(keys.approvals);
      stale(keys.audit);
    }),
    socket.on('budget.warning', () => stale(keys.budgets)),
    // No other event reports the tokens that a turn used.
    socket.on('chat.done', () => {
      for (const key of [keys.sessions, keys.usage, keys.budgets]) stale(key);
    }),
    ...(facts.voice_enabled
      ? [
          socket.on('voice.settings', () => stale(keys.voice)),
          socket.on('voice.persona', () => {
            stale(keys.personas);
            stale(keys.stored);
          }),
        ]
      : []),
  ];
  socket.open();
  return () => {
    for (const list of lists.values()) list.cancel();
    for (const end of ends) end();
    socket.close();
  };
}
