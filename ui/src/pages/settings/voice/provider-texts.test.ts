import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { overwriteGetLocale } from '../../../paraglide/runtime.js';
import { aboutOf, hintOf, inWords, labelOf } from './provider-texts';

const VOICE = join(import.meta.dirname, '../../../../../crates/voice/src');
const read = (name: string) => readFileSync(join(VOICE, name), 'utf8');

/** Settings in a source, with whether they have a hint. Providers share some by the name of a constant. */
const settingsOf = (source: string) =>
  [...source.matchAll(/setting\("(\w+)",\s*"[^"]*"\)(\s*\.hint)?/g)].map(([, name = '', hint]) => ({
    name,
    hasHint: hint !== undefined,
  }));

function shared(): Map<string, { name: string; hasHint: boolean }> {
  const made = read('provider.rs').matchAll(/const ([A-Z_]+): ProviderSetting =\s*([^;]+);/g);
  return new Map([...made].flatMap(([, at = '', source = '']) => settingsOf(source).map((one) => [at, one] as const)));
}

/** The providers in the gateway's sources, with their settings. */
function providers() {
  const files = ['tts', 'stt'].flatMap((role) => readdirSync(join(VOICE, role)).map((file) => join(role, file)));
  return files.flatMap((file) => {
    const source = file.endsWith('.rs') ? read(file) : '';
    const id = /const ID: &str = "(\w+)"/.exec(source)?.[1];
    const listed = /settings: &\[([\s\S]*?)\],\n/.exec(source)?.[1];
    if (!id || listed === undefined) return [];
    const named = [...listed.matchAll(/\b([A-Z_]{4,})\b(\.hint)?/g)].flatMap(([, at = '', hint]) => {
      const one = shared().get(at);
      return one ? [{ ...one, hasHint: one.hasHint || hint !== undefined }] : [];
    });
    return [{ id, settings: [...settingsOf(listed), ...named] }];
  });
}

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

test('every voice provider of the gateway and each of its settings has its texts', () => {
  const all = providers();
  expect(all.length).toBeGreaterThan(12);
  expect(all.every(({ settings }) => settings.length > 0)).toBe(true);
  const missing = all.flatMap(({ id, settings }) => [
    ...(aboutOf(id) ? [] : [id]),
    ...settings.filter(({ name }) => !labelOf(id, name)).map(({ name }) => `label of ${id}.${name}`),
    ...settings.filter(({ name, hasHint }) => hasHint && !hintOf(id, name)).map(({ name }) => `hint of ${id}.${name}`),
  ]);
  expect(missing).toEqual([]);
});

test('a known provider is in the language of the page, and what is unknown as the gateway says it', () => {
  overwriteGetLocale(() => 'de');
  const settings = [
    { name: 'endpoint', label: 'Server address', hint: 'Of a Wyoming program: tcp://host:port.' },
    { name: 'model', label: 'Model' },
    { name: 'mood', label: 'Mood', hint: 'Cheerful or not.' },
  ];
  const known = inWords({ id: 'stt_local_1', name: 'Local server', about: 'Your own.', settings });
  expect(known.name).toBe('Lokaler Server (Voxtral, Wyoming)');
  expect(known.about).toMatch(/^Ein eigener Voxtral-Server/);
  expect(known.settings.map(({ label }) => label)).toEqual(['Serveradresse', 'Modell', 'Mood']);
  expect(known.settings.map(({ hint }) => hint)).toEqual([
    'Bei einem Wyoming-Programm: tcp://host:port.',
    null,
    'Cheerful or not.',
  ]);
  const unknown = { id: 'new', name: 'New', about: 'Something new.', settings: [] };
  expect(inWords(unknown)).toEqual(unknown);
});
