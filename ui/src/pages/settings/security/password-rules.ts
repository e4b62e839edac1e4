// The rules of a password, as the gateway checks them (docs/API.md counts Unicode scalar values), told while it is typed.
import { m } from '../../../paraglide/messages.js';

export const MIN = 12;
export const MAX = 1024;

const lengthOf = (password: string): number => [...password].length;
const isShort = (password: string): boolean => lengthOf(password) < MIN;
const isLong = (password: string): boolean => lengthOf(password) > MAX;
export const fits = (password: string): boolean => !isShort(password) && !isLong(password);

/** Whether both fields hold one password that the gateway takes. */
export const isReady = (password: string, repeated: string): boolean => fits(password) && password === repeated;

/** What is wrong with its length. */
export function wrongLength(password: string): string | null {
  if (isLong(password)) return m.security_password_long({ max: MAX });
  return isShort(password) ? m.security_password_short({ min: MIN }) : null;
}

export interface Rule {
  text: string;
  kept: boolean;
  /** How far it is from being kept. */
  left?: string;
}

/** The rules and whether `password` keeps them. `current` is the one before, where there is one. */
export function rules(password: string, repeated: string, current?: string): Rule[] {
  const length: Rule = { text: m.security_rule_length({ min: MIN }), kept: fits(password) };
  if (password !== '' && isShort(password)) length.left = m.security_rule_missing({ count: MIN - lengthOf(password) });
  const all = [length, { text: m.security_rule_repeated(), kept: password !== '' && password === repeated }];
  if (current !== undefined) {
    all.push({ text: m.security_rule_other(), kept: password !== '' && password !== current });
  }
  return all;
}
