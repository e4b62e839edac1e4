// Which tools an agent may use, between how it is stored (two lists, where an empty `allow` means all) and how it is ticked.

import type { ToolPolicy } from '../../../client/generated/rpc';

/** `all`: every tool there is or will be, save those that are not ticked. `only`: those that are ticked. */
export interface Choice {
  mode: 'all' | 'only';
  ticked: Set<string>;
  /** In the mode `only`: what is denied besides, whatever is ticked. */
  never: string[];
}

const NOTHING = '*';

/** The names to tick: those that are known, and those that the policy names besides. */
export function namesOf(policy: ToolPolicy, known: readonly string[]): string[] {
  const own = [...policy.allow, ...policy.deny].filter((name) => name !== NOTHING);
  return [...new Set([...known, ...own])];
}

export function read(policy: ToolPolicy, known: readonly string[]): Choice {
  if (policy.deny.includes(NOTHING)) return { mode: 'only', ticked: new Set(), never: [] };
  if (policy.allow.length === 0) {
    const ticked = namesOf(policy, known).filter((name) => !policy.deny.includes(name));
    return { mode: 'all', ticked: new Set(ticked), never: [] };
  }
  if (policy.allow.includes(NOTHING)) return read({ allow: [], deny: policy.deny }, known);
  const ticked = policy.allow.filter((name) => !policy.deny.includes(name));
  return { mode: 'only', ticked: new Set(ticked), never: policy.deny };
}

export function write({ mode, ticked, never }: Choice, names: readonly string[]): ToolPolicy {
  if (mode === 'all') return { allow: [], deny: names.filter((name) => !ticked.has(name)) };
  const allow = names.filter((name) => ticked.has(name));
  if (allow.length === 0) return { allow: [], deny: [NOTHING] };
  return { allow, deny: never.filter((name) => !ticked.has(name)) };
}
