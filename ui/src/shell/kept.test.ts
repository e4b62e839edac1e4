// @vitest-environment jsdom
import { QueryClient } from '@tanstack/svelte-query';
import { beforeEach, expect, it, vi } from 'vitest';
import { Failure } from '../client/failure';
import type { Preference } from '../state/preferences';

const calls = vi.hoisted(() => ({ rpc: vi.fn(), toast: vi.fn() }));
vi.mock('../client/rpc', () => ({ rpc: calls.rpc }));
vi.mock('../state/session.svelte', () => ({ KEPT: ['prompts', 'delivery filters'] }));
vi.mock('../state/toasts.svelte', () => ({ toast: calls.toast }));

import { freeName, moveKept } from './kept';

let stored: { saved_filters: Preference[]; prompts: Preference[] };
let refusal: Failure | null;
/** The action of another window while an entry is stored. */
let meanwhile: () => void;
const queries = new QueryClient();
const keep = (prompts: object[]) => localStorage.setItem('prompts', JSON.stringify(prompts));
const kept = (): unknown => JSON.parse(localStorage.getItem('prompts') ?? '[]');

beforeEach(() => {
  localStorage.clear();
  calls.toast.mockClear();
  stored = { saved_filters: [], prompts: [] };
  refusal = null;
  meanwhile = () => undefined;
  calls.rpc.mockImplementation((method: string, entry: { kind: 'prompts' | 'saved_filters' } & Preference) => {
    if (method === 'preferences.get') return Promise.resolve(structuredClone(stored));
    meanwhile();
    if (refusal && entry.name === 'Refused') return Promise.reject(refusal);
    const { kind, name, value } = entry;
    stored[kind] = [...stored[kind].filter((one) => one.name !== name), { name, value }];
    return Promise.resolve({ ok: true });
  });
});

it('moves what the browser keeps, and then removes it', async () => {
  keep([{ name: 'Standup', text: 'Summarize.' }]);
  localStorage.setItem('delivery filters', JSON.stringify([{ name: 'Mine', query: 'q=mine' }]));
  const refreshed = vi.spyOn(queries, 'invalidateQueries');
  await moveKept(queries);
  expect(refreshed).toHaveBeenCalledWith({ queryKey: ['preferences'] });
  expect(stored).toEqual({
    prompts: [{ name: 'Standup', value: 'Summarize.' }],
    saved_filters: [{ name: 'Mine', value: 'q=mine' }],
  });
  expect(localStorage.length).toBe(0);
  expect(calls.toast).not.toHaveBeenCalled();
});

it('replaces no entry of the gateway', async () => {
  stored.prompts = [{ name: 'Standup', value: 'Theirs.' }];
  keep([
    { name: 'Standup', text: 'Mine.' },
    { name: 'Standup (2)', text: 'Mine, too.' },
  ]);
  await moveKept(queries);
  expect(stored.prompts).toEqual([
    { name: 'Standup', value: 'Theirs.' },
    { name: 'Standup (2)', value: 'Mine.' },
    { name: 'Standup (2) (2)', value: 'Mine, too.' },
  ]);
});

it('keeps an entry in the browser until the gateway has stored it, and moves none twice', async () => {
  keep([
    { name: 'First', text: 'One.' },
    { name: 'Refused', text: 'Two.' },
  ]);
  refusal = new Failure('OFFLINE', 'The gateway is not responding.');
  await moveKept(queries);
  expect(kept()).toEqual([{ name: 'Refused', text: 'Two.' }]);
  // The user deletes the first one on the gateway.
  stored.prompts = [];
  refusal = null;
  await moveKept(queries);
  expect(stored.prompts.map(({ name }) => name)).toEqual(['Refused']);
  expect(localStorage.length).toBe(0);
});

it('keeps what an older window saves meanwhile', async () => {
  const first = { name: 'First', text: 'One.' };
  const second = { name: 'Second', text: 'Two.' };
  keep([first]);
  meanwhile = () => keep([first, second]);
  await moveKept(queries);
  expect(stored.prompts).toEqual([{ name: 'First', value: 'One.' }]);
  expect(kept()).toEqual([second]);
});

it('writes nothing to the browser after a logout', async () => {
  keep([
    { name: 'First', text: 'One.' },
    { name: 'Refused', text: 'Two.' },
  ]);
  refusal = new Failure('INVALID_PARAMS', 'Invalid `value`: 1 to 10000 characters.');
  meanwhile = () => localStorage.clear();
  await moveKept(queries);
  expect(localStorage.length).toBe(0);
});

it('names what the gateway refuses, and keeps only that', async () => {
  keep([
    { name: 'Refused', text: 'One.' },
    { name: 'Second', text: 'Two.' },
  ]);
  refusal = new Failure('INVALID_PARAMS', 'Invalid `value`: 1 to 10000 characters.');
  await moveKept(queries);
  expect(stored.prompts).toEqual([{ name: 'Second', value: 'Two.' }]);
  expect(kept()).toEqual([{ name: 'Refused', text: 'One.' }]);
  expect(calls.toast).toHaveBeenCalledWith(expect.stringContaining('Refused'), { kind: 'bad' });
});

it('ignores what another program wrote under the keys', async () => {
  localStorage.setItem('delivery filters', 'no JSON');
  localStorage.setItem('prompts', JSON.stringify([{ name: 1, text: 'x' }, null]));
  await moveKept(queries);
  expect(stored).toEqual({ saved_filters: [], prompts: [] });
});

it('shortens a name so that its number fits', () => {
  const name = 'ü'.repeat(60);
  expect(freeName({ name, value: 'mine' }, [{ name, value: 'theirs' }])).toBe(`${'ü'.repeat(54)} (2)`);
  expect(freeName({ name, value: 'same' }, [{ name, value: 'same' }])).toBeNull();
});
