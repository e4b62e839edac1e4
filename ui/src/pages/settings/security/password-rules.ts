// The gateway's password rules, checked while typing. Length counts Unicode scalar values (docs/API.md).
import { m } from '../../../paraglide/messages.js';

export const MIN = 12;
export const MAX = 1024;

const lengthOf = (password: string): number => [...password].length;
const isShort = (password: string): boolean => lengthOf(password) < MIN;
const isLong = (password: string): boolean => lengthOf(password) > MAX;
export const fits = (password: string): boolean => !isShort(password) && !isLong(password);

/** Whether both fields contain the same valid password. */
export const isReady = (password: string, repeated: string): boolean => fits(password) && password === repeated;

/** The error about the password's length, if any. */
export function wrongLength(password: string): string | null {
  if (isLong(password)) return m.security_password_long({ max: MAX });
  return isShort(password) ? m.security_password_short({ min: MIN }) : null;
}

export interface Rule {
  text: string;
  kept: boolean;
  /** The missing part of the rule. */
  left?: string;
}

/** The rules and whether `password` meets them. `current` is the existing password, if any. */
export function rules(password: string, repeated: string, current?: string): Rule[] {
  const length: Rule = { text: m.security_rule_length({ min: MIN }), kept: fits(password) };
  if (password !== '' && isShort(password)) length.left = m.security_rule_missing({ count: MIN - lengthOf(password) });
  const all = [length, { text: m.security_rule_repeated(), kept: password !== '' && password === repeated }];
  if (current !== undefined) {
    all.push({ text: m.security_rule_other(), kept: password !== '' && password !== current });
  }
  return all;
}

/** Parts of passwords that guessing programs try first. */
const COMMON =
  /passwor[td]|passphrase|gatehouse|qwert[yz]|letmein|welcome|admin|iloveyou|secret|monkey|dragon|changeme/g;

/**
 * Roughly estimates the number of guesses that a password withstands, in bits. Characters that continue a run or repeat
 * a group do not count. A common part counts as one character.
 */
function bitsOf(password: string): number {
  const characters = [
    ...password
      .toLowerCase()
      .replace(COMMON, 'p')
      .replace(/(.{1,8}?)\1+/gu, '$1'),
  ];
  const codes = characters.map((one) => one.codePointAt(0) ?? 0);
  const counted = codes.filter((code, at) => at === 0 || Math.abs(code - (codes[at - 1] ?? 0)) > 1).length;
  const kinds: [RegExp, number][] = [
    [/[a-z]/, 26],
    [/[A-Z]/, 26],
    [/[0-9]/, 10],
    [/[^A-Za-z0-9]/, 30],
  ];
  const pool = kinds.reduce((sum, [kind, size]) => sum + (kind.test(password) ? size : 0), 0);
  return counted * Math.log2(Math.max(pool, 2));
}

export type Strength = 1 | 2 | 3 | 4;

/** How hard a password is to guess: 1 weak, 2 fair, 3 good, 4 strong. */
export function strengthOf(password: string): Strength {
  const bits = bitsOf(password);
  if (bits < 50) return 1;
  if (bits < 70) return 2;
  return bits < 90 ? 3 : 4;
}
