import { expect, test } from 'vitest';
import { sharedBy } from './first-pages.mjs';

const module = (importedIds, { onDemand = [], code = '', isEntry = false } = {}) => ({
  importedIds,
  dynamicallyImportedIds: onDemand,
  code,
  isEntry,
});
const BARREL = '/src/paraglide/messages.js';
const message = (name) => `/src/paraglide/messages/${name}.js`;
const MODULES = new Map([
  ['main', module(['core'], { onDemand: ['chat', 'overview', 'vault'], isEntry: true })],
  ['core', module([])],
  ['chat', module(['core', 'menu', 'bubble', BARREL], { onDemand: ['dialog'], code: 'm.chat_title(); m.save()' })],
  ['overview', module(['core', 'menu', 'table'])],
  ['vault', module(['core', 'table', 'secret', BARREL], { code: 'm.save(); m.vault_title()' })],
  ['dialog', module(['core', 'secret', 'bubble'])],
  ['menu', module(['icon'])],
  ...['icon', 'bubble', 'table', 'secret'].map((id) => [id, module([])]),
  [BARREL, module(['chat_title', 'save', 'vault_title'].map(message))],
  ...['chat_title', 'save', 'vault_title'].map((name) => [message(name), module([])]),
]);

test('what a first page shares with any other part is found, and of the messages only those that it shows', () => {
  const shared = sharedBy(['chat', 'overview'], MODULES);
  expect([...shared].sort()).toEqual([message('save'), 'bubble', 'icon', 'menu', 'table']);
});

test('what every view loads, what one page needs alone, and what only later pages share is left out', () => {
  const shared = sharedBy(['chat', 'overview'], MODULES);
  for (const id of ['core', message('chat_title'), 'secret', 'chat', BARREL]) expect(shared).not.toContain(id);
});
