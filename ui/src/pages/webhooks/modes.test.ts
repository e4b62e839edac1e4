import { afterEach, expect, test } from 'vitest';
import type { AuthMode } from '../../client/generated/rpc';
import { overwriteGetLocale } from '../../paraglide/runtime.js';
import { modeName } from './modes';

afterEach(() => {
  overwriteGetLocale(() => 'en');
});

const profiles = [
  { id: 'codehost_a', name: 'Code host A (GitHub)', default_auth_mode: 'codehost_a_hmac_sha256' as const },
  { id: 'codehost_b', name: 'Code host B (GitLab)', default_auth_mode: 'codehost_b_token' as const },
];
const name = (mode: string, given?: string) =>
  modeName(mode as AuthMode, given ? { name: given } : undefined, profiles);

test('a mode of a sender is named by the gateway, and after the sender in other languages', () => {
  expect(name('codehost_a_hmac_sha256', 'GitHub signature (X)')).toBe('GitHub signature (X)');
  expect(name('bearer')).toBe('Bearer token in Authorization');
  overwriteGetLocale(() => 'de');
  expect(name('codehost_a_hmac_sha256', 'GitHub signature (X)')).toBe('Signatur von GitHub');
  expect(name('codehost_b_token', 'GitLab token (X)')).toBe('Token von GitLab');
  expect(name('none')).toBe('Keine (nur für Tests)');
  expect(name('own_way', 'Own way')).toBe('Own way');
});
