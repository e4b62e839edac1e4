// Returns the error of a used-up budget as text.
import { m } from '../../paraglide/messages.js';
import { full } from '../../parts/time';
import { scopeName } from '../settings/usage/scopes';

/** `null` for other errors. */
export function usedUp(code: string, details: object): string | null {
  const { scope, resets_at } = details as { scope?: unknown; resets_at?: unknown };
  if (code !== 'BUDGET_EXHAUSTED' || typeof scope !== 'string' || typeof resets_at !== 'string') return null;
  return m.chat_budget_used_up({ name: scopeName(scope), when: full(resets_at) });
}
