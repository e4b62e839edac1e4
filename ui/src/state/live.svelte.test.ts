// @vitest-environment jsdom
import { QueryClient } from '@tanstack/svelte-query';
import { beforeEach, expect, test, vi } from 'vitest';

const listeners = vi.hoisted(() => new Map<string, (params: unknown) => void>());
vi.mock('../client/socket', () => ({
  socket: {
    on: (name: string, listener: (params: unknown) => void) => {
      listeners.set(name, listener);
      return () => undefined;
    },
    watch: () => () => undefined,
    open: () => undefined,
    close: () => undefined,
  },
}));
vi.mock('./session.svelte', () => ({ refresh: () => Promise.resolve() }));

import { keys } from '../client/keys';
import { goLive } from './live.svelte';

const queries = new QueryClient();
beforeEach(() => queries.clear());

test('the end of a turn makes conversations, usage and budgets stale, and a warning makes budgets stale', () => {
  const end = goLive(queries);
  const all = [keys.sessions, keys.usage, keys.budgets];
  for (const key of all) queries.setQueryData(key, []);
  listeners.get('budget.warning')?.({});
  expect(all.filter((key) => queries.getQueryState(key)?.isInvalidated)).toEqual([keys.budgets]);
  end();
  queries.clear();
  const again = goLive(queries);
  for (const key of all) queries.setQueryData(key, []);
  listeners.get('chat.done')?.({});
  expect(all.filter((key) => queries.getQueryState(key)?.isInvalidated)).toEqual(all);
  again();
});

test.each([
  ['deliveries', false],
  ['env', true],
  // Settings name what uses a secret.
  ['config', true],
])('the list of stored secrets follows the secrets and their uses, and not the traffic: %s', (what, isStale) => {
  const end = goLive(queries);
  queries.setQueryData(keys.stored, []);
  listeners.get('records.changed')?.({ what });
  expect(queries.getQueryState(keys.stored)?.isInvalidated).toBe(isStale);
  end();
});
