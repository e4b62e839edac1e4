import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { senderGerman } from './sender-german.mjs';

function files(vendors) {
  const folder = mkdtempSync(join(tmpdir(), 'vendors-'));
  for (const [name, german] of Object.entries(vendors)) {
    mkdirSync(join(folder, name));
    if (german !== null) writeFileSync(join(folder, name, 'german.json'), JSON.stringify(german));
  }
  const words = join(folder, 'words.json');
  writeFileSync(words, JSON.stringify({ verbs: { opened: 'geöffnet' } }));
  return [pathToFileURL(`${folder}/`), pathToFileURL(words)];
}

test('the texts of all vendors are joined, and their sentences stay apart', () => {
  const jira = {
    profile: 'jira',
    texts: { Issues: 'Vorgänge', 'A test': 'Ein Test' },
    sentences: { '{1} ended.': '{1} ist beendet.' },
  };
  const github = { profile: 'codehost_a', texts: { 'A test': 'Ein Test' } };
  const { texts, sentences } = senderGerman(...files({ jira, github, plain: null }));
  expect(JSON.parse(texts)).toEqual({ 'A test': 'Ein Test', Issues: 'Vorgänge' });
  expect(JSON.parse(sentences)).toEqual({
    verbs: { opened: 'geöffnet' },
    senders: { jira: { '{1} ended.': '{1} ist beendet.' } },
  });
});

test('one English text with two translations ends the generation', () => {
  const vendor = (german) => ({ profile: 'any', texts: { Issues: german } });
  const [vendors, words] = files({ a: vendor('Vorgänge'), b: vendor('Issues') });
  expect(() => senderGerman(vendors, words)).toThrow('b/german.json: another vendor translates "Issues" otherwise');
});
