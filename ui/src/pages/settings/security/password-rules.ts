// The rules of a password, as the gateway checks them, told while it is typed.
import { m } from '../../../paraglide/messages.js';

export const SHORTEST = 12;
export const LONGEST = 1024;

export interface Rule {
  text: string;
  kept: boolean;
}

/** Characters are Unicode scalar values, as the gateway counts them. */
const length = (text: string): number => [...text].length;

/** The rules and whether `password` keeps them. `current` is the one before, where there is one. */
export function rules(password: string, repeated: string, current?: string): Rule[] {
  const all = [
    {
      text: m.security_rule_length({ shortest: SHORTEST, count: length(password) }),
      kept: length(password) >= SHORTEST && length(password) <= LONGEST,
    },
    { text: m.security_rule_repeated(), kept: password !== '' && password === repeated },
  ];
  if (current !== undefined) {
    all.push({ text: m.security_rule_other(), kept: password !== '' && password !== current });
  }
  return all;
}
