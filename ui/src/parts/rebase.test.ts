import { expect, test } from 'vitest';
import { rebased } from './rebase';

const base = { name: 'Triage', model: '', tools: { allow: ['calc'], deny: [] as string[] } };

test('a field that the user did not change has the value that is stored now', () => {
  const stored = { ...base, model: 'changed elsewhere', tools: { allow: [], deny: ['*'] } };
  expect(rebased({ ...base, name: 'Typed' }, base, stored)).toEqual({ ...stored, name: 'Typed' });
  expect(rebased(structuredClone(base), base, stored)).toEqual(stored);
});

test('a field that was changed by the user and elsewhere is as the user typed it', () => {
  const stored = { ...base, name: 'Changed elsewhere' };
  const typed = { ...base, name: '', tools: { allow: ['calc', 'speak'], deny: [] } };
  expect(rebased(typed, base, stored)).toEqual(typed);
});

test('a field that is not stored is as the user typed it', () => {
  expect(rebased<Record<string, string>>({ url: 'typed' }, {}, {})).toEqual({ url: 'typed' });
  expect(rebased<Record<string, string>>({ url: '' }, { url: 'a' }, { url: 'a', port: '1' })).toEqual({
    url: '',
    port: '1',
  });
});

test('the fields are in the order of the stored ones', () => {
  const { model, tools } = base;
  expect(JSON.stringify(rebased({ tools, model, name: 'Typed' }, base, base))).toBe(
    JSON.stringify({ name: 'Typed', model, tools }),
  );
});
