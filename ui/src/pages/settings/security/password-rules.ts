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
  /** What is missing to meet the rule. */
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
