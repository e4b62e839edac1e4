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
