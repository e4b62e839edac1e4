import { readFileSync } from 'node:fs';
import { compile } from 'svelte/compiler';
import { expect, test } from 'vitest';
import { plainIcons } from './plain-icons.mjs';

const filename = new URL('../node_modules/@lucide/svelte/dist/icons/bell.svelte', import.meta.url).pathname;

test('an icon is written out', () => {
  const { code } = plainIcons.markup({ content: readFileSync(filename, 'utf8'), filename });
  expect(code).toMatch(/<path d="M10\.268 21a2 2 0 0 0 3\.464 0" \/>/);
  expect(compile(code, { filename }).warnings).toEqual([]);
});

test('an icon that is written otherwise ends the build', () => {
  expect(() => plainIcons.markup({ content: '<Icon />', filename })).toThrow('not written as expected');
});

test('nothing else is touched', () => {
  expect(plainIcons.markup({ content: '<p>Bell</p>', filename: '/src/parts/Bell.svelte' })).toBeUndefined();
});
