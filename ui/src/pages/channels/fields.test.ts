import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { overwriteGetLocale } from '../../paraglide/runtime.js';
import { inWords, textOf, visibleFields } from './fields';

const CHANNELS = join(import.meta.dirname, '../../../../crates/channels/src');
const read = (name: string) => readFileSync(join(CHANNELS, name), 'utf8');

/** The fields that functions make for several types, such as `receiving_switch()`. */
function shared(): Map<string, string> {
  const source = read('fields.rs');
  const names = new Map([...source.matchAll(/const ([A-Z_]+): &str = "(\w+)"/g)].map(([, at, name]) => [at, name]));
  const made = source.matchAll(/const fn (\w+)\(\) -> FieldSpec \{\s*FieldSpec::new\(\s*([A-Z_]+)/g);
  return new Map([...made].map(([, called = '', name = '']) => [called, names.get(name) ?? name]));
}

/** The types in the gateway's sources, with the names of their fields and options. */
function types(): { type: string; fields: string[]; extra: string[] }[] {
  const files = readdirSync(join(CHANNELS, 'senders'), { recursive: true, encoding: 'utf8' });
  return files.flatMap((file) => {
    if (!/\.rs$/.test(file) || file === 'mod.rs') return [];
    const about = /static ABOUT: About = About \{([\s\S]*?)\n\};/.exec(read(join('senders', file)))?.[1];
    const type = /kind: "(\w+)"/.exec(about ?? '')?.[1];
    if (!about || !type) return [];
    const fields = [...about.matchAll(/FieldSpec::new\(\s*"(\w+)"/g)].map(([, name]) => name ?? '');
    const others = [...about.matchAll(/^ {8}(\w+)\(\),$/gm)].map(([, called]) => shared().get(called ?? '') ?? '');
    const extra = [...about.matchAll(/\bname: "([^"]+)"/g)].map(([, name]) => name ?? '');
    return [{ type, fields: [...fields, ...others], extra }];
  });
}

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

test('every field and option of the gateway’s channels has its texts', () => {
  const all = types();
  expect(all.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['discord', 'email', 'http', 'matrix', 'ntfy', 'slack', 'telegram']),
  );
  expect(all.find(({ type }) => type === 'telegram')?.fields).toEqual(
    expect.arrayContaining(['bot_token', 'inbound', 'agent_id', 'voice_answers']),
  );
  const missing = all.flatMap(({ type, fields, extra }) => [
    ...fields.filter((name) => !textOf('label', type, name)).map((name) => `label of ${type}.${name}`),
    ...fields.filter((name) => !textOf('hint', type, name)).map((name) => `hint of ${type}.${name}`),
    ...extra.filter((name) => !textOf('option', type, name)).map((name) => `option ${type}.${name}`),
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
