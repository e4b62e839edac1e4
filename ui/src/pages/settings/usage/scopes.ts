// Names of budget scopes.
import { m } from '../../../paraglide/messages.js';

const KINDS: Record<string, (inputs: { name: string }) => string> = {
  agent: m.usage_scope_agent,
  model: m.usage_scope_model,
  webhook: m.usage_scope_webhook,
  key: m.usage_scope_key,
};

/**
 * Returns a scope such as `all` or `agent:default` as text. `names` contains the labels of records
 * by ID.
 */
export function scopeName(scope: string, names: ReadonlyMap<string, string> = new Map()): string {
  if (scope === 'all') return m.usage_scope_all();
  const [, kind = '', id = ''] = /^(\w+):(.*)$/s.exec(scope) ?? [];
  const inWords = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  return inWords?.({ name: names.get(id) ?? id }) ?? scope;
}
