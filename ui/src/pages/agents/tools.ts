// Converts tool policies between stored form (two lists; an empty `allow` means all) and checkboxes.

import type { ToolPolicy } from '../../client/generated/rpc';

/**
 * `all`: all current and future tools except the unchecked ones. `only`: only the checked tools.
 */
export interface Choice {
  mode: 'all' | 'only';
  ticked: Set<string>;
  /** In `only` mode, the tools to keep in the policy's `deny` list while they are not checked. */
  never: string[];
}

const NOTHING = '*';

/** Returns the tools to list: known tools, and others that the policy names. */
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
