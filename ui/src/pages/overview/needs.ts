// Tasks for the owner, such as a sealed vault, approvals, failures and credentials that expire. Pure functions.
import type { Account, ChannelPairing, Provider } from '../../client/generated/rpc';
import type { Result } from '../../client/rpc';
import { isWaiting } from '../channels/people';
import { nearness } from '../settings/security/expiry';
import type { TranslatedCheck } from '../settings/system/doctor';

/** The used share from which a budget is listed. */
const NEAR_END = 0.8;

export interface Expiring {
  id: string;
  label: string;
  expires_at?: string | null;
}

export interface Facts {
  /** The handling of new deliveries while the vault is sealed, or null if it is not sealed. */
  sealed: 'refused' | 'held' | null;
  /** Whether no provider of language models can be used. */
  no_model: boolean;
  approvals: readonly unknown[];
  /** Deliveries that failed in the shown period. */
  failed: number;
  /** Deliveries that a restored backup holds. */
  restored: number;
  /**
   * Whether a delivery has waited for long, although neither a pause nor a restored backup holds
   * it.
   */
  waiting: boolean;
  /** The health checks. */
  checks: readonly Pick<TranslatedCheck, 'id' | 'ok' | 'message' | 'urgent' | 'inLanguage'>[];
  api_keys: readonly Expiring[];
  devices: readonly Expiring[];
  webhooks: readonly Pick<Result<'webhooks.get'>, 'id' | 'name' | 'enabled' | 'paused' | 'auth'>[];
  budgets: readonly Pick<
    Result<'budgets.list'>['budgets'][number],
    'scope' | 'period' | 'tokens' | 'cost' | 'used_tokens' | 'used_cost' | 'exhausted'
  >[];
  servers: readonly Pick<Result<'mcp.list'>['servers'][number], 'name' | 'state' | 'needs_approval'>[];
  channels: readonly Pick<Account, 'id' | 'label' | 'enabled' | 'inbound_error'>[];
  /** The people who write through channels. */
  people: readonly Pick<ChannelPairing, 'code' | 'expires_at'>[];
  providers: readonly Pick<Provider, 'id' | 'configured' | 'key_for' | 'key_rejected'>[];
}

export type Need =
  | { kind: 'sealed'; held: boolean }
  | { kind: 'no_model' }
  | { kind: 'approvals' | 'failed' | 'restored' | 'people'; count: number }
  | { kind: 'api_key' | 'device'; id: string; label: string; at: string; over: boolean }
  | { kind: 'secret' | 'old_secret' | 'paused'; id: string; label: string; at: string | null }
  | { kind: 'budget'; scope: string; share: number; over: boolean }
  | { kind: 'server' | 'broken_server' | 'channel' | 'rejected_key' | 'moved_key'; label: string }
  | { kind: 'backup' | 'waiting' }
  | { kind: 'check'; check: Pick<TranslatedCheck, 'id' | 'ok' | 'message' | 'inLanguage'> };

/** Returns what needs attention, the most urgent first. */
export function needsOf(facts: Facts, now_ms: number): Need[] {
  const { approvals, failed, restored, waiting } = facts;
  const people = facts.people.filter((person) => isWaiting(person, now_ms)).length;
  const soon = (at: string | null | undefined): at is string => ['near', 'over'].includes(nearness(at, now_ms));
  const expiring = (kind: 'api_key' | 'device', list: readonly Expiring[]): Need[] =>
    list.flatMap(({ id, label, expires_at: at }) =>
      soon(at) ? [{ kind, id, label, at, over: Date.parse(at) <= now_ms }] : [],
    );
  return [
    ...(facts.sealed ? [{ kind: 'sealed', held: facts.sealed === 'held' } as const] : []),
    ...(approvals.length > 0 ? [{ kind: 'approvals', count: approvals.length } as const] : []),
    ...(failed > 0 ? [{ kind: 'failed', count: failed } as const] : []),
    ...(restored > 0 ? [{ kind: 'restored', count: restored } as const] : []),
    ...(waiting ? [{ kind: 'waiting' } as const] : []),
    ...(facts.no_model ? [{ kind: 'no_model' } as const] : []),
    ...facts.providers.flatMap(({ id, configured, key_for, key_rejected }): Need[] => {
      if (key_rejected) return [{ kind: 'rejected_key', label: id }];
      return !configured && key_for ? [{ kind: 'moved_key', label: id }] : [];
    }),
    ...(facts.checks.some(({ id, ok }) => id === 'backup' && !ok) ? [{ kind: 'backup' } as const] : []),
    ...facts.checks
      .filter(({ id, urgent }) => urgent && id !== 'backup')
      .map(({ id, ok, message, inLanguage }) => ({ kind: 'check', check: { id, ok, message, inLanguage } }) as const),
    ...facts.channels
      .filter(({ enabled, inbound_error }) => enabled && inbound_error)
      .map(({ label }) => ({ kind: 'channel', label }) as const),
    ...facts.servers
      .filter(({ state }) => state === 'failed' || state === 'not_built')
      .map(({ name }) => ({ kind: 'broken_server', label: name }) as const),
    ...(people > 0 ? [{ kind: 'people', count: people } as const] : []),
    ...facts.budgets.flatMap((budget): Need[] => {
      const share = shareOf(budget);
      return share >= NEAR_END ? [{ kind: 'budget', scope: budget.scope, share, over: budget.exhausted }] : [];
    }),
    ...facts.webhooks
      .filter(({ enabled, auth }) => enabled && auth.awaits_secret)
      .map(({ id, name }) => ({ kind: 'secret', id, label: name, at: null }) as const),
    ...facts.webhooks
      .filter(({ enabled, paused }) => enabled && paused)
      .map(({ id, name }) => ({ kind: 'paused', id, label: name, at: null }) as const),
    ...facts.servers
      .filter((server) => server.needs_approval)
      .map(({ name }) => ({ kind: 'server', label: name }) as const),
    ...expiring('api_key', facts.api_keys),
    ...expiring('device', facts.devices),
    ...facts.webhooks.flatMap(({ id, name, auth }): Need[] => {
      const at = auth.previous_secret_expires_at;
      return at && Date.parse(at) > now_ms ? [{ kind: 'old_secret', id, label: name, at }] : [];
    }),
  ];
}

function shareOf({ tokens, cost, used_tokens, used_cost }: Facts['budgets'][number]): number {
  const [used, most] = tokens == null ? [used_cost, cost ?? 0] : [used_tokens, tokens];
  return most > 0 ? used / most : 1;
}
