// A webhook as form state, and its conversion from records and to requests. Pure functions.
import type {
  AuthMode,
  OnLimit,
  ProfileInfo,
  ReplayGuard,
  SessionMode,
  ToolPolicy,
  Webhook,
} from '../../client/generated/rpc';
import type { Params } from '../../client/rpc';
import { numberOf, numeralOf } from '../../parts/numeral';
import { rebased } from '../../parts/rebase';
import { entries } from './cidr';
import { filterConditions, payloadFilterOf, type ConditionDraft } from './conditions';
import { emptySchedule, PROFILE, scheduleDraftOf, scheduleInputOf, type ScheduleDraft } from './schedule';

export interface Draft {
  name: string;
  profile: string;
  enabled: boolean;
  filter: 'all' | 'only' | 'except';
  /**
   * The checked event types of the sender. `others` lists further types, separated by commas or
   * line breaks.
   */
  picked: string[];
  others: string;
  /** Event types to skip even if `only` includes them. */
  never: string;
  conditions: ConditionDraft[];
  eventHeader: string;
  forward: boolean;
  agent: string;
  model: string;
  suffix: string;
  sessionMode: SessionMode;
  sessionKey: string;
  tools: string[];
  template: string;
  /** Whether the template is the JSON body of the request. */
  isJson: boolean;
  target: string;
  /** The channel for the agent's answers. Empty means no channel. */
  answerTo: string;
  answerTemplate: string;
  answerIsJson: boolean;
  extra: Record<string, string>;
  mode: AuthMode;
  header: string;
  ownSecret: boolean;
  secret: string;
  replayGuard: ReplayGuard;
  redeliverFailed: boolean;
  rate: string;
  onLimit: OnLimit;
  maxKib: string;
  cidrs: string;
  /** For the profile `schedule`. */
  schedule: ScheduleDraft;
}

export type Input = Params<'webhooks.create'>;

/** The only tools that may be enabled for a delivery's turn. */
export const PUBLIC_TOOLS = ['calc', 'web_search', 'web_fetch'] as const;

export const emptyDraft = (): Draft => ({
  name: '',
  profile: '',
  enabled: true,
  filter: 'all',
  picked: [],
  others: '',
  never: '',
  conditions: [],
  eventHeader: '',
  forward: false,
  agent: '',
  model: '',
  suffix: '',
  sessionMode: 'per_delivery',
  sessionKey: '',
  tools: [],
  template: '',
  isJson: false,
  target: 'inbox',
  answerTo: '',
  answerTemplate: '',
  answerIsJson: false,
  extra: {},
  mode: 'static_header',
  header: '',
  ownSecret: false,
  secret: '',
  replayGuard: 'key',
  redeliverFailed: true,
  rate: '60',
  onLimit: 'refuse',
  maxKib: '1024',
  cidrs: '',
  schedule: emptySchedule(),
});

/** Modes in which a delivery has no signature. */
const UNSIGNED: readonly AuthMode[] = ['none', 'static_header', 'bearer'];

/**
 * Returns the replay guard to propose. Standard Webhooks signs its message ID in every profile. Without a signature,
 * the guard gives no protection and could drop a delivery whose body was received before.
 */
export const proposedGuard = (profile: ProfileInfo | undefined, mode: AuthMode): ReplayGuard =>
  mode === 'standard_webhooks' || UNSIGNED.includes(mode) ? 'key' : (profile?.replay_guard ?? 'key');

/** Converts a record to form state. `catalog` lists the event types that have a checkbox. */
export function draftOf(webhook: Webhook, catalog: readonly string[]): Draft {
  const { allow, deny } = webhook.events;
  const filter = allow.length > 0 ? 'only' : deny.length > 0 ? 'except' : 'all';
  const listed = filter === 'except' ? deny : allow;
  return {
    name: webhook.name,
    profile: webhook.source_profile,
    enabled: webhook.enabled,
    filter,
    picked: listed.filter((one) => catalog.includes(one)),
    others: listed.filter((one) => !catalog.includes(one)).join(', '),
    never: filter === 'only' ? deny.join(', ') : '',
    conditions: filterConditions(webhook.payload_filter),
    eventHeader: webhook.event_header ?? '',
    forward: webhook.deliver_only,
    agent: webhook.agent ?? '',
    model: webhook.model ?? '',
    suffix: webhook.system_prompt_suffix ?? '',
    sessionMode: webhook.session_mode,
    sessionKey: webhook.session_key ?? '',
    tools: allowedTools(webhook.toolPolicy ?? null),
    template: webhook.deliver_only ? (webhook.prompt_template ?? '') : '',
    isJson: webhook.deliver_only && webhook.template_format === 'json',
    target: (webhook.deliver_only ? webhook.deliver_to : null) ?? 'inbox',
    answerTo: (webhook.deliver_only ? null : webhook.deliver_to) ?? '',
    answerTemplate: webhook.deliver_only ? '' : (webhook.prompt_template ?? ''),
    answerIsJson: !webhook.deliver_only && webhook.template_format === 'json',
    extra: { ...webhook.deliver_extra },
    mode: webhook.auth_mode,
    header: webhook.auth.header ?? '',
    ownSecret: false,
    secret: '',
    replayGuard: webhook.replay_guard,
    redeliverFailed: webhook.redeliver_failed,
    rate: String(webhook.rate_limit_per_minute),
    onLimit: webhook.on_limit,
    maxKib: numeralOf(Math.round((webhook.max_body_bytes / 1024) * 1000) / 1000),
    cidrs: (webhook.allowed_cidrs ?? []).join('\n'),
    schedule: scheduleDraftOf(webhook.schedule),
  };
}

/**
 * Returns the public tools that a policy allows. Without a policy, there are none. Without an allow
 * list, all tools are allowed that are not denied.
 */
export function allowedTools(policy: ToolPolicy | null): string[] {
  if (!policy) return [];
  const names = (list: readonly string[], tool: string) =>
    list.some((entry) => entry === tool || (entry.endsWith('*') && tool.startsWith(entry.slice(0, -1))));
  return PUBLIC_TOOLS.filter(
    (tool) => (policy.allow.length === 0 || names(policy.allow, tool)) && !names(policy.deny, tool),
  );
}

/**
 * Returns the form as request parameters without the secret. Null selects the gateway's default.
 */
export function inputOf(draft: Draft): Input {
  const picked = [...draft.picked.toSorted(), ...entries(draft.others)];
  const text = (value: string) => (value.trim() === '' ? null : value);
  const isJson = draft.forward ? draft.isJson : draft.answerTo !== '' && draft.answerIsJson;
  // A JSON body contains only the template.
  const extra = isJson ? [] : Object.entries(draft.extra).filter(([, value]) => value !== '');
  const cidrs = entries(draft.cidrs);
  return {
    name: draft.name.trim(),
    source_profile: draft.profile,
    enabled: draft.enabled,
    events: {
      allow: draft.filter === 'only' ? picked : [],
      deny: draft.filter === 'except' ? picked : draft.filter === 'only' ? entries(draft.never) : [],
    },
    payload_filter: draft.profile === PROFILE ? null : payloadFilterOf(draft.conditions),
    event_header: draft.profile === 'generic' ? text(draft.eventHeader.trim()) : null,
    deliver_only: draft.forward,
    agent: text(draft.agent),
    model: text(draft.model.trim()),
    system_prompt_suffix: text(draft.suffix),
    session_mode: draft.sessionMode,
    session_key: draft.sessionMode === 'named_session' ? text(draft.sessionKey.trim()) : null,
    toolPolicy: draft.tools.length > 0 ? { allow: draft.tools.toSorted(), deny: [] } : null,
    prompt_template: text(draft.forward ? draft.template : draft.answerTemplate),
    template_format: isJson ? 'json' : null,
    deliver_to: draft.forward ? (draft.target === 'inbox' ? null : draft.target) : text(draft.answerTo),
    deliver_extra: extra.length > 0 ? Object.fromEntries(extra.toSorted()) : null,
    auth_mode: draft.mode,
    header: draft.mode === 'static_header' ? text(draft.header.trim()) : null,
    replay_guard: draft.replayGuard,
    redeliver_failed: draft.redeliverFailed,
    rate_limit_per_minute: numberOf(draft.rate),
    on_limit: draft.onLimit,
    max_body_bytes: Math.round(numberOf(draft.maxKib) * 1024),
    allowed_cidrs: cidrs.length > 0 ? cidrs : null,
    schedule: draft.profile === PROFILE ? scheduleInputOf(draft.schedule) : null,
  };
}

/** Returns the parameters of a new webhook without null values. */
export function creation(draft: Draft): Input {
  const said = Object.entries(inputOf(draft)).filter(([, value]) => value !== null);
  const input: Input = Object.fromEntries(said);
  if (draft.ownSecret && draft.secret !== '' && draft.mode !== 'none') input.secret = draft.secret;
  return input;
}

/** Returns the parameters that differ between two drafts, or null if none differ. */
export function changes(before: Draft, after: Draft): Input | null {
  const old: Record<string, unknown> = { ...inputOf(before) };
  const changed = Object.entries(inputOf(after)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name]),
  );
  const input: Input = Object.fromEntries(changed);
  if (after.ownSecret && after.secret !== '' && after.mode !== 'none') input.secret = after.secret;
  return Object.keys(input).length > 0 ? input : null;
}

/**
 * Returns the form after `sent` was stored as `stored`. Keeps text that the user typed since, which is not saved yet.
 */
export function afterSave(now: Draft, sent: Draft, stored: Draft): Draft {
  if (JSON.stringify(now) === JSON.stringify(sent)) return stored;
  // Another window may have changed the fields that the user left unchanged.
  const typed = rebased(now, sent, stored);
  const isStored = sent.ownSecret && now.secret === sent.secret;
  // The next change would be refused if the user's own secret were empty.
  if (isStored) return { ...typed, ownSecret: false, secret: '' };
  // A record does not contain these fields, so keep what the user typed.
  return { ...typed, ownSecret: now.ownSecret, secret: now.secret };
}
