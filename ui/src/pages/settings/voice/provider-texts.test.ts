import { afterEach, expect, test } from 'vitest';
import { TEXTS } from '../../../client/generated/texts';
import { overwriteGetLocale } from '../../../paraglide/runtime.js';
import { aboutOf, hintOf, inWords, labelOf } from './provider-texts';

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

test('every voice provider of the gateway and each of its settings has its texts', () => {
  const missing = TEXTS.voice.flatMap(({ id, settings }) => [
    ...(aboutOf(id) ? [] : [id]),
    ...settings.filter(({ name }) => !labelOf(id, name)).map(({ name }) => `label of ${id}.${name}`),
    ...settings.filter(({ name, hint }) => hint && !hintOf(id, name)).map(({ name }) => `hint of ${id}.${name}`),
  ]);
  expect(missing).toEqual([]);
});

test('a known provider is in the language of the page, and what is unknown as the gateway says it', () => {
  overwriteGetLocale(() => 'de');
  const settings = [
    { name: 'endpoint', label: 'Server address', hint: 'For a Wyoming program: tcp://host:port.' },
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
