import { expect, test } from 'vitest';
import { find } from './palette';

const entry = (group: string, label: string) => ({ group, label, key: label, run: () => undefined });
const ALL = [
  entry('Pages', 'All webhooks'),
  entry('Webhooks', 'Bills'),
  entry('Pages', 'Webhooks'),
  entry('Agents', 'Rémy'),
  { ...entry('Pages', 'Keys and devices'), words: 'API token' },
];
const labels = (q: string) => find(ALL, q).map(({ label }) => label);

test('every word must match the label or the group, and labels that start with the text come first', () => {
  expect(labels('web')).toEqual(['Webhooks', 'All webhooks', 'Bills']);
  expect(labels('bills web')).toEqual(['Bills']);
  expect(labels('bills pages')).toEqual([]);
});

test('case and accents do not matter', () => {
  expect(labels('REMY')).toEqual(['Rémy']);
});

test('an entry is found by its further words, after those whose label has the text', () => {
  expect(labels('token')).toEqual(['Keys and devices']);
  expect(find([...ALL, entry('Agents', 'My token')], 'token').map(({ label }) => label)).toEqual([
    'My token',
    'Keys and devices',
  ]);
});

test('without a text every entry is shown in its order', () => {
  expect(labels('')).toEqual(ALL.map(({ label }) => label));
});
