import { beforeEach, expect, test } from 'vitest';
import { toast, toasts } from '../../state/toasts.svelte';
import { addFresh, dismissPointer, dropFresh, fresh, type Fresh } from './fresh.svelte';

const rotated = (id: string): Fresh => ({ id, secret: 'whsec_1', warning: null, how: 'rotated', until_ms: null });
const pointTo = (id: string) => addFresh({ ...rotated(id), toast: toast(id, { stays: true }) });
const shown = () => toasts.map(({ text }) => text);

beforeEach(() => {
  toasts.splice(0);
  fresh.clear();
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
