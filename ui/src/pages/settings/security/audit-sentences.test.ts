import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SENTENCES, sentence } from './audit-sentences';

const CRATES = join(import.meta.dirname, '../../../../../crates');

/** The kinds in the gateway's sources, from calls, transactions and constants. */
function kindsOf(source: string): string[] {
  const found = source.matchAll(
    /(?:Audit::(?:row|Transaction)\(|\bkind: |pub const (?![A-Z_]*FILE)[A-Z_]+: &str = )\s*"([a-z_]+\.[a-z_]+)"/g,
  );
  return [...found].map(([, kind]) => kind ?? '');
}

function sources(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = entries.filter((name) => /\.rs$/.test(name) && !name.includes('test'));
  return files.map((name) => readFileSync(join(folder, name), 'utf8'));
}

test('every kind of audit event of the gateway has a sentence', () => {
  const folders = ['rpc/src/methods', 'auth/src/audit', 'agents/src', 'secrets/src', 'services/src', 'tools/src/mcp'];
  const kinds = new Set(folders.flatMap((folder) => sources(join(CRATES, folder))).flatMap(kindsOf));
  expect(kinds.size).toBeGreaterThan(60);
  expect([...kinds].filter((kind) => !(kind in SENTENCES))).toEqual([]);
});

test('a credential that is gone is named by its label', () => {
  const none = new Map<string, string>();
  const gone = { api_key: 'ak_1', label: 'Laptop' };
  expect(sentence('api_key.revoked', gone, none).more).toBe('Laptop');
  expect(sentence('api_key.revoked', gone, new Map([['ak_1', 'Laptop']])).more).toBe('Laptop');
  expect(sentence('device.revoked', { device: 'dev_1' }, none).more).toBe('dev_1');
});

test('a persona has its name while it exists', () => {
  expect(sentence('persona.created', { made: { id: 'marie' } }, new Map([['marie', 'Marie']])).more).toBe('Marie');
  expect(sentence('persona.deleted', { id: 'marie' }, new Map()).more).toBe('marie');
});

test('a voice provider has its name', () => {
  expect(sentence('provider_key.set', { id: 'tts_cloud_2' }, new Map()).more).toBe('OpenAI');
  expect(sentence('provider_key.set', { id: 'anthropic' }, new Map()).more).toBe('anthropic');
});
