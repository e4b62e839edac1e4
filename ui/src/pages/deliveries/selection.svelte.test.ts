import { expect, test } from 'vitest';
import { Selection } from './selection.svelte';

/** A selection with a completed run over one entry. */
function ran() {
  const selection = new Selection();
  selection.on = true;
  selection.toggle('a');
  const end = selection.begin();
  selection.ids.delete('a');
  return { selection, end };
}

test('the end of a run stops selecting', () => {
  const { selection, end } = ran();
  end();
  expect(selection.on).toBe(false);
});

test('the end of a run keeps what the user has selected since', () => {
  const { selection, end } = ran();
  selection.toggle('b');
  end();
  expect(selection.on).toBe(true);
  expect([...selection.ids]).toEqual(['b']);
});

test('the end of a run does not stop a selection that the user has started since', () => {
  const { selection, end } = ran();
  selection.stop();
  selection.on = true;
  end();
  expect(selection.on).toBe(true);
});

test('a run of which a part failed selects this part, and what the user has selected since', () => {
  const selection = new Selection();
  selection.on = true;
  for (const id of ['a', 'b', 'c', 'other']) selection.toggle(id);
  const end = selection.begin();
  selection.ids.delete('a');
  selection.toggle('since');
  end(['b', 'c']);
  expect(selection.on).toBe(true);
  expect([...selection.ids].sort()).toEqual(['b', 'c', 'since']);
});

test('a run of which a part failed selects nothing after the user has stopped selecting', () => {
  const { selection, end } = ran();
  selection.stop();
  end(['a']);
  expect(selection.on).toBe(false);
  expect(selection.ids.size).toBe(0);
});
