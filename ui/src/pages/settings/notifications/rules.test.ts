import { expect, test } from 'vitest';
import { listOf } from '../setting';
import { changed, targetsOf } from './rules';

const channel = (id: string, type: string) => ({ id, type, label: id, enabled: true });

test('a built-in channel is named by its type, and one whose ID is its type by either name', () => {
  const channels = [channel('inbox', 'inbox'), channel('ops', 'slack'), channel('telegram', 'telegram')];
  const chosen = (stored: string[]) =>
    targetsOf(channels, stored).flatMap(({ target, chosen }) => (chosen ? [target] : []));
  expect(chosen([])).toEqual([]);
  expect(chosen(['inbox', 'slack:ops', 'telegram'])).toEqual(['inbox', 'slack:ops', 'telegram']);
  // Written in the file with both parts.
  expect(chosen(['telegram:telegram'])).toEqual(['telegram:telegram']);
});

test('a target without a channel can only be removed', () => {
  const targets = targetsOf([channel('inbox', 'inbox')], ['slack:gone']);
  expect(targets.at(-1)).toEqual({ target: 'slack:gone', label: 'slack:gone', chosen: true, gone: true });
  expect(targets[0]?.label).toBe('Inbox');
  expect(targetsOf([], ['slack:gone', 'slack:gone']).map(({ target }) => target)).toEqual(['slack:gone']);
});

test('a change adds or removes one target and keeps the others', () => {
  expect(changed(['a'], 'b', true)).toEqual(['a', 'b']);
  expect(changed(['a', 'b'], 'a', false)).toEqual(['b']);
  expect(changed(['a'], 'a', true)).toEqual(['a']);
  expect(listOf(null)).toEqual([]);
  expect(listOf(['a', 1])).toEqual(['a']);
});
