// The rules of a password, as the gateway checks them, told while it is typed.
import { m } from '../../../paraglide/messages.js';
import { lengthOf, MAX, MIN } from '../../onboarding/password';

export interface Rule {
  text: string;
  kept: boolean;
}

/** The rules and whether `password` keeps them. `current` is the one before, where there is one. */
export function rules(password: string, repeated: string, current?: string): Rule[] {
  const all = [
    {
      text: m.security_rule_length({ shortest: MIN, count: lengthOf(password) }),
      kept: lengthOf(password) >= MIN && lengthOf(password) <= MAX,
    },
    { text: m.security_rule_repeated(), kept: password !== '' && password === repeated },
  ];
  if (current !== undefined) {
    all.push({ text: m.security_rule_other(), kept: password !== '' && password !== current });
  }
  return all;
}
