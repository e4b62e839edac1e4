// @vitest-environment jsdom
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
const keep = (prompts: object[]) => localStorage.setItem('prompts', JSON.stringify(prompts));

beforeEach(() => {
  localStorage.clear();
  calls.toast.mockClear();
  stored = { saved_filters: [], prompts: [] };
  refusal = null;
  calls.rpc.mockImplementation((method: string, entry: { kind: 'prompts' | 'saved_filters' } & Preference) => {
    if (method === 'preferences.get') return Promise.resolve(structuredClone(stored));
    if (refusal && entry.name === 'Refused') return Promise.reject(refusal);
    const { kind, name, value } = entry;
    stored[kind] = [...stored[kind].filter((one) => one.name !== name), { name, value }];
    return Promise.resolve({ ok: true });
  });
});

it('moves what the browser keeps, and then removes it', async () => {
  keep([{ name: 'Standup', text: 'Summarize.' }]);
  localStorage.setItem('delivery filters', JSON.stringify([{ name: 'Mine', query: 'q=mine' }]));
  await moveKept();
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
  await moveKept();
  expect(stored.prompts).toEqual([
    { name: 'Standup', value: 'Theirs.' },
    { name: 'Standup (2)', value: 'Mine.' },
    { name: 'Standup (2) (2)', value: 'Mine, too.' },
  ]);
});

it('keeps everything in the browser until the gateway has stored it', async () => {
  keep([
    { name: 'First', text: 'One.' },
    { name: 'Refused', text: 'Two.' },
  ]);
  refusal = new Failure('OFFLINE', 'The gateway is not responding.');
  await moveKept();
  expect(JSON.parse(localStorage.getItem('prompts') ?? '')).toHaveLength(2);
  refusal = null;
  await moveKept();
  expect(stored.prompts.map(({ name }) => name)).toEqual(['First', 'Refused']);
  expect(localStorage.length).toBe(0);
});

it('names what the gateway refuses, and keeps only that', async () => {
  keep([
    { name: 'Refused', text: 'One.' },
    { name: 'Second', text: 'Two.' },
  ]);
  refusal = new Failure('INVALID_PARAMS', 'Invalid `value`: 1 to 10000 characters.');
  await moveKept();
  expect(stored.prompts).toEqual([{ name: 'Second', value: 'Two.' }]);
  expect(JSON.parse(localStorage.getItem('prompts') ?? '')).toEqual([{ name: 'Refused', text: 'One.' }]);
  expect(calls.toast).toHaveBeenCalledWith(expect.stringContaining('Refused'), { kind: 'bad' });
});

it('ignores what another program wrote under the keys', async () => {
  localStorage.setItem('delivery filters', 'no JSON');
  localStorage.setItem('prompts', JSON.stringify([{ name: 1, text: 'x' }, null]));
  await moveKept();
  expect(stored).toEqual({ saved_filters: [], prompts: [] });
});

it('shortens a name so that its number fits', () => {
  const name = 'ü'.repeat(60);
  expect(freeName({ name, value: 'mine' }, [{ name, value: 'theirs' }])).toBe(`${'ü'.repeat(54)} (2)`);
  expect(freeName({ name, value: 'same' }, [{ name, value: 'same' }])).toBeNull();
});
