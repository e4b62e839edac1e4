import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { overwriteGetLocale } from '../../paraglide/runtime.js';
import { productName } from './product';
import { ABOUT, aboutOf } from './senders';

const VENDORS = join(import.meta.dirname, '../../../../crates/sources/src/vendors');

/** The profiles in the gateway's sources: one file for each, in TOML or in code. */
function profiles(): string[] {
  const files = readdirSync(VENDORS, { recursive: true, encoding: 'utf8' });
  return files.flatMap((file) => {
    const source = /(^|\/)(profile\.toml|mod\.rs)$/.test(file) ? readFileSync(join(VENDORS, file), 'utf8') : '';
    if (file.endsWith('.toml')) return /^id = "(\w+)"/m.exec(source)?.[1] ?? [];
    if (!/^ {4}about: "/m.test(source)) return [];
    return /^ {4}id: "(\w+)"/m.exec(source)?.[1] ?? /const ID: &str = "(\w+)"/.exec(source)?.[1] ?? [];
  });
}

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

test('every sender of the gateway has a text, and no other has', () => {
  expect(profiles().length).toBeGreaterThan(40);
  expect(Object.keys(ABOUT).toSorted()).toEqual(profiles().toSorted());
});

test('a known sender is in the language of the page, and an unknown one as the gateway describes it', () => {
  overwriteGetLocale(() => 'de');
  expect(aboutOf({ id: 'typeform', about: 'Responses to forms' })).toBe('Antworten auf Formulare');
  expect(aboutOf({ id: 'own', about: 'Orders and refunds' })).toBe('Orders and refunds');
  expect(productName({ id: 'schedule', name: 'Schedule' })).toBe('Zeitplan');
  expect(productName({ id: 'codehost_a', name: 'Code host A (GitHub)' })).toBe('GitHub');
});
