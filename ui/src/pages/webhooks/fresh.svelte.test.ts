import { beforeEach, expect, test, vi } from 'vitest';
import { toast, toasts } from '../../state/toasts.svelte';
import type { OneTimeSecret } from '../../state/secrets.svelte';
import type { Fresh } from './fresh.svelte';

const place = { path: '/' };
const above: OneTimeSecret[] = [];
vi.mock('../../state/place.svelte', () => ({ place }));
vi.mock('../../state/secrets.svelte', () => ({ showSecret: (one: OneTimeSecret) => above.push(one) }));
const { addFresh, dismissPointer, dropFresh, fresh, showLate } = await import('./fresh.svelte');

const rotated = (id: string): Fresh => ({ id, secret: 'whsec_1', warning: null, how: 'rotated', until_ms: null });
const pointTo = (id: string) => addFresh({ ...rotated(id), toast: toast(id, { stays: true }) });
const shown = () => toasts.map(({ text }) => text);

beforeEach(() => {
  toasts.splice(0);
  fresh.clear();
  above.splice(0);
});

test('the toast that leads to a secret is removed with the secret', () => {
  pointTo('wh_1');
  pointTo('wh_2');
  dropFresh('wh_1');
  dropFresh('wh_3');
  expect(shown()).toEqual(['wh_2']);
  expect([...fresh.keys()]).toEqual(['wh_2']);
});

test('the toast that leads to a secret is removed once the secret is shown or replaced', () => {
  pointTo('wh_1');
  dismissPointer('wh_1');
  expect(shown()).toEqual([]);
  expect(fresh.has('wh_1')).toBe(true);
  pointTo('wh_1');
  addFresh(rotated('wh_1'));
  expect(shown()).toEqual([]);
  expect(fresh.has('wh_1')).toBe(true);
});

test('a secret that arrives late is shown on the page of its webhook, and above any other page', () => {
  place.path = '/webhooks/wh_1';
  for (const id of ['wh_1', 'wh_2']) showLate({ ...rotated(id), name: id });
  expect([...fresh.keys()]).toEqual(['wh_1']);
  expect(above.map(({ secret, title }) => [secret, title])).toEqual([['whsec_1', 'Secret of wh_2 rotated']]);
});

test('a warning without a secret waits for the page of its webhook', () => {
  place.path = '/inbox';
  showLate({ ...rotated('wh_1'), secret: null, warning: 'The secret is short.', name: 'Alpha' });
  expect([...fresh.keys()]).toEqual(['wh_1']);
  expect(above).toEqual([]);
});

test('a secret that is shown above a page has its warning', () => {
  place.path = '/inbox';
  showLate({ ...rotated('wh_1'), how: 'created', warning: 'The secret is short.', name: 'Alpha' });
  expect(above.map(({ name, text }) => [name, text.endsWith(' The secret is short.')])).toEqual([['Alpha', true]]);
});
