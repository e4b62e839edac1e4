import { QueryClient } from '@tanstack/svelte-query';
import { expect, it, vi } from 'vitest';
import { Failure } from '../client/failure';

const rpc = vi.hoisted(() => vi.fn());
vi.mock('../client/rpc', () => ({ rpc }));

import { deletePreference, preferences } from './preferences';

const prompt = { kind: 'prompts', name: 'Standup' } as const;

it('sorts entries by name, as people do', async () => {
  const named = (...names: string[]) => names.map((name) => ({ name, value: 'text' }));
  rpc.mockResolvedValueOnce({ saved_filters: named('Z', 'a'), prompts: named('Zebra', 'Äpfel', 'b') });
  const { saved_filters, prompts } = await preferences().queryFn();
  expect(saved_filters).toEqual(named('a', 'Z'));
  expect(prompts).toEqual(named('Äpfel', 'b', 'Zebra'));
});

it('deletes an entry that was deleted elsewhere without an error', async () => {
  const queries = new QueryClient();
  rpc.mockRejectedValueOnce(new Failure('NOT_FOUND', 'The entry does not exist.'));
  await deletePreference(queries, prompt);
  const lost = new Failure('OFFLINE', 'The gateway is not responding.');
  rpc.mockRejectedValueOnce(lost);
  await expect(deletePreference(queries, prompt)).rejects.toBe(lost);
});
