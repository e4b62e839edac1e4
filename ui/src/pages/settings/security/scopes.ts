// Labels and descriptions of the scopes.
import type { Shape } from '../../../client/http';
import { m } from '../../../paraglide/messages.js';

export type Scope = Shape<'Scope'>;

export const SCOPES: readonly { scope: Scope; label: () => string; hint: () => string }[] = [
  { scope: 'operator.read', label: m.security_scope_read, hint: m.security_scope_read_hint },
  { scope: 'operator.write', label: m.security_scope_write, hint: m.security_scope_write_hint },
  { scope: 'operator.approvals', label: m.security_scope_approvals, hint: m.security_scope_approvals_hint },
  { scope: 'operator.pairing', label: m.security_scope_pairing, hint: m.security_scope_pairing_hint },
  { scope: 'operator.admin', label: m.security_scope_admin, hint: m.security_scope_admin_hint },
];

/** A short list of scopes, such as "Read, Write"; admin includes all others. */
export function scopesInWords(scopes: readonly Scope[]): string {
  const named = scopes.includes('operator.admin') ? (['operator.admin'] as const) : scopes;
  return SCOPES.filter(({ scope }) => (named as readonly Scope[]).includes(scope))
    .map(({ label }) => label())
    .join(', ');
}
