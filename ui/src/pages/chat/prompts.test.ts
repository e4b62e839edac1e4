// @vitest-environment jsdom
import { expect, it } from 'vitest';
import { prompts } from './prompts.svelte';

it('keeps what another window saved', () => {
  const other = { name: 'Theirs', text: 'Summarize.' };
  localStorage.setItem('prompts', JSON.stringify([other]));
  dispatchEvent(new StorageEvent('storage', { key: 'prompts' }));
  prompts.save({ name: 'Mine', text: 'Translate.' });
  expect(JSON.parse(localStorage.getItem('prompts') ?? '')).toEqual([{ name: 'Mine', text: 'Translate.' }, other]);
});
