// Texts for the gateway's health checks, by ID. A check has its result only as an English sentence. Other languages
// show the general meaning of the result, and add the gateway's sentence where it is more specific.
import type { Check } from '../../../client/generated/rpc';
import type { Translated } from '../../../phrases/checks';
import { HELD_BACK } from '../../deliveries/held';
import { m } from '../../../paraglide/messages.js';
import { baseLocale, getLocale } from '../../../paraglide/runtime.js';

type Outcome = 'good' | 'bad';

interface Texts {
  name: () => string;
  /** The meaning of a passed or failed check. Absent if an outcome can have several meanings. */
  good?: () => string;
  bad?: () => string;
  /** The next step after a failed check. Absent if it depends on the reason. */
  hint?: () => string;
  /** The outcomes for which the gateway's sentence adds nothing to the text here. */
  whole?: readonly Outcome[];
  /** The page for acting on a failed check. */
  open?: { href: string; label: () => string };
}

export const CHECKS: Record<string, Texts> = {
  approval_channels: {
    name: m.about_check_name_approval_channels,
    good: m.about_check_good_approval_channels,
    bad: m.about_check_bad_approval_channels,
    hint: m.about_check_hint_approval_channels,
  },
  audit_export: {
    name: m.about_check_name_audit_export,
    good: m.about_check_good_audit_export,
    bad: m.about_check_bad_audit_export,
    whole: ['good'],
  },
  auth: { name: m.about_check_name_auth, good: m.about_check_good_auth, bad: m.about_check_bad_auth, whole: ['good'] },
  // The passed state has no text, because the check also passes if no backups are scheduled.
  backup: { name: m.about_check_name_backup },
  backup_drill: {
    name: m.about_check_name_backup_drill,
    good: m.about_check_good_backup_drill,
    bad: m.about_check_bad_backup_drill,
    hint: m.about_check_hint_backup_drill,
  },
  backup_encrypted: {
    name: m.about_check_name_backup_encrypted,
    good: m.about_check_good_backup_encrypted,
    bad: m.about_check_bad_backup_encrypted,
  },
  before_setup: {
    name: m.about_check_name_before_setup,
    good: m.about_check_good_before_setup,
    whole: ['good'],
  },
  certificate: {
    name: m.about_check_name_certificate,
    good: m.about_check_good_certificate,
    bad: m.about_check_bad_certificate,
  },
  channels: {
    name: m.about_check_name_channels,
    good: m.about_check_good_channels,
    bad: m.about_check_bad_channels,
    hint: m.about_check_hint_channels,
    whole: ['good'],
  },
  clock: {
    name: m.about_check_name_clock,
    good: m.about_check_good_clock,
    bad: m.about_check_bad_clock,
    hint: m.about_check_hint_clock,
    whole: ['good'],
  },
  config: {
    name: m.about_check_name_config,
    good: m.about_check_good_config,
    bad: m.about_check_bad_config,
    hint: m.about_check_hint_config,
  },
  damaged_webhooks: {
    name: m.about_check_name_damaged_webhooks,
    good: m.about_check_good_damaged_webhooks,
    whole: ['good'],
  },
  data_directory: {
    name: m.about_check_name_data_directory,
    good: m.about_check_good_data_directory,
    bad: m.about_check_bad_data_directory,
    whole: ['good'],
  },
  database: {
    name: m.about_check_name_database,
    good: m.about_check_good_database,
    bad: m.about_check_bad_database,
    hint: m.about_check_hint_database,
  },
  disk: { name: m.about_check_name_disk, good: m.about_check_good_disk, bad: m.about_check_bad_disk },
  external_url: {
    name: m.about_check_name_external_url,
    good: m.about_check_good_external_url,
    bad: m.about_check_bad_external_url,
  },
  held_deliveries: {
    name: m.about_check_name_held_deliveries,
    bad: m.about_check_bad_held_deliveries,
    hint: m.about_check_hint_held_deliveries,
    open: { href: HELD_BACK, label: m.deliveries_restored_show },
  },
  locality: { name: m.about_check_name_locality },
  mcp: { name: m.about_check_name_mcp, good: m.about_check_good_mcp, bad: m.about_check_bad_mcp },
  mcp_variables: { name: m.about_check_name_mcp_variables, good: m.about_check_good_mcp_variables },
  metrics_token: {
    name: m.about_check_name_metrics_token,
    good: m.about_check_good_metrics_token,
    bad: m.about_check_bad_metrics_token,
    hint: m.about_check_hint_metrics_token,
    whole: ['good', 'bad'],
  },
  plaintext_secrets: {
    name: m.about_check_name_plaintext_secrets,
    good: m.about_check_good_plaintext_secrets,
    bad: m.about_check_bad_plaintext_secrets,
  },
  profiles: {
    name: m.about_check_name_profiles,
    good: m.about_check_good_profiles,
    bad: m.about_check_bad_profiles,
    hint: m.about_check_hint_profiles,
    whole: ['good'],
  },
  provider_keys: {
    name: m.about_check_name_provider_keys,
    good: m.about_check_good_provider_keys,
    bad: m.about_check_bad_provider_keys,
  },
  proxy: {
    name: m.about_check_name_proxy,
    bad: m.about_check_bad_proxy,
    hint: m.about_check_hint_proxy,
    whole: ['bad'],
  },
  queue: {
    name: m.about_check_name_queue,
    good: m.about_check_good_queue,
    bad: m.about_check_bad_queue,
    hint: m.about_check_hint_queue,
    whole: ['good'],
  },
  received_messages: {
    name: m.about_check_name_received_messages,
    good: m.about_check_good_received_messages,
    bad: m.about_check_bad_received_messages,
    hint: m.about_check_hint_received_messages,
    whole: ['good'],
  },
  schedules: {
    name: m.about_check_name_schedules,
    good: m.about_check_good_schedules,
    bad: m.about_check_bad_schedules,
    hint: m.about_check_hint_schedules,
    whole: ['good'],
  },
  senders: {
    name: m.about_check_name_senders,
    good: m.about_check_good_senders,
    bad: m.about_check_bad_senders,
    hint: m.about_check_hint_senders,
    whole: ['good'],
  },
  setup: {
    name: m.about_check_name_setup,
    good: m.about_check_good_setup,
    bad: m.about_check_bad_setup,
    hint: m.about_check_hint_setup,
    whole: ['good', 'bad'],
  },
  shared_unseal: { name: m.about_check_name_shared_unseal },
  telemetry: {
    name: m.about_check_name_telemetry,
    good: m.about_check_good_telemetry,
    bad: m.about_check_bad_telemetry,
    hint: m.about_check_hint_telemetry,
  },
  tls: {
    name: m.about_check_name_tls,
    bad: m.about_check_bad_tls,
    hint: m.about_check_hint_tls,
    whole: ['bad'],
  },
  vault: { name: m.about_check_name_vault, good: m.about_check_good_vault, bad: m.about_check_bad_vault },
  voice: { name: m.about_check_name_voice, good: m.about_check_good_voice, bad: m.about_check_bad_voice },
  webhooks: {
    name: m.about_check_name_webhooks,
    good: m.about_check_good_webhooks,
    bad: m.about_check_bad_webhooks,
    whole: ['good'],
  },
};

/** Returns the page for acting on a failed check, or null if there is none. */
export const wayOf = ({ id, ok }: Pick<Check, 'id' | 'ok'>): Texts['open'] | null =>
  ok ? null : (CHECKS[id]?.open ?? null);

/** What a check shows. */
export interface Shown {
  name: string;
  text: string | null;
  /** The gateway's sentence. */
  detail: string | null;
  hint: string | null;
  /** The gateway's hint. */
  hintDetail: string | null;
}

/** Readable form of an unknown ID. */
const words = (id: string): string => id.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());

type Found = Pick<Check, 'id' | 'ok' | 'message' | 'hint'> & { inLanguage?: Translated };

export function shown({ id, ok, message, hint, inLanguage }: Found): Shown {
  const known = CHECKS[id];
  const outcome = ok ? 'good' : 'bad';
  const isWhole = known?.whole?.includes(outcome) ?? false;
  const general = isWhole || getLocale() !== baseLocale ? (known?.[outcome]?.() ?? null) : null;
  const text = inLanguage?.message ? null : general;
  const ownHint = hint && !ok && !inLanguage?.hint ? (known?.hint?.() ?? null) : null;
  return {
    name: known?.name() ?? words(id),
    text,
    detail: text !== null && isWhole ? null : message,
    hint: ownHint,
    hintDetail: ownHint === null ? (hint ?? null) : null,
  };
}
