import { afterEach, expect, test } from 'vitest';
import { TEXTS } from '../../client/generated/texts';
import { overwriteGetLocale } from '../../paraglide/runtime.js';
import { inWords, isOptional, textOf, visibleFields } from './fields';

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

test('every field and option of the gateway’s channels has its texts', () => {
  const missing = TEXTS.channels.flatMap(({ type, fields, options }) => [
    ...fields.filter((name) => !textOf('label', type, name)).map((name) => `label of ${type}.${name}`),
    ...fields.filter((name) => !textOf('hint', type, name)).map((name) => `hint of ${type}.${name}`),
    ...options.filter((name) => !textOf('option', type, name)).map((name) => `option ${type}.${name}`),
  ]);
  expect(missing).toEqual([]);
});

const field = (name: string) => ({ name, label: `Label of ${name}`, secret: false, required: false, help: `${name}!` });

test('a known field is in the language of the page, and an unknown one as the gateway names it', () => {
  overwriteGetLocale(() => 'de');
  const type = { type: 'ntfy', label: 'ntfy', fields: ['topic', 'colour'].map(field), extra: [], targets: [] };
  const { fields } = inWords({ ...type, takes_json: false });
  expect(fields.map(({ label }) => label)).toEqual(['Thema', 'Label of colour']);
  expect(fields.map(({ help }) => help)[1]).toBe('colour!');
});

test('what concerns receiving is shown only while it is on', () => {
  const fields = ['host', 'inbound', 'imap_host'].map(field);
  expect(visibleFields(fields, false).map(({ name }) => name)).toEqual(['host', 'inbound']);
  expect(visibleFields(fields, true)).toEqual(fields);
  expect(visibleFields(fields.slice(0, 1), false)).toHaveLength(1);
});

test('a field that each message needs is not optional, though the gateway does not require it', () => {
  expect(isOptional('ntfy', field('topic'))).toBe(false);
  expect(isOptional('ntfy', field('token'))).toBe(true);
  expect(isOptional('matrix', { ...field('room_id'), required: true })).toBe(false);
});
