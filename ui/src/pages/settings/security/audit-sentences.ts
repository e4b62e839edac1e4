// Texts for the kinds of audit events. The kinds are defined in the gateway (`append_audit` in crates/*/src).
import { providerName } from '../../../client/wording';
import { m } from '../../../paraglide/messages.js';
import { scopesInWords, type Scope } from './scopes';

export type Detail = Record<string, unknown>;
type More = (detail: Detail, labels: ReadonlyMap<string, string>) => string;

interface Sentence {
  title: () => string;
  more?: More;
}

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
const named =
  (...fields: string[]): More =>
  (detail) =>
    text(fields.map((field) => detail[field]).find((value) => text(value) !== ''));
const count =
  (field: string, say: (inputs: { count: number }) => string): More =>
  (detail) =>
    typeof detail[field] === 'number' && detail[field] > 0 ? say({ count: detail[field] }) : '';
const by: More = ({ method, by: way }) => {
  const how = text(method ?? way);
  if (how === 'passkey') return m.audit_by_passkey();
  if (how === 'password') return m.audit_by_password();
  if (how === 'another_node') return m.audit_by_another_node();
  return how === 'recovery_key' || how === 'recovery' ? m.audit_by_recovery_key() : how;
};
const stored: More = (detail, labels) => {
  const encrypted = detail.encrypted === 1 || detail.encrypted === true;
  return m.audit_stored({
    name: named('key', 'name')(detail, labels),
    how: encrypted ? m.audit_encrypted() : m.audit_plaintext(),
  });
};
const setting: More = ({ key, value }) =>
  value === null || value === undefined ? text(key) : `${text(key)} = ${JSON.stringify(value)}`;
const channel: More = ({ label, type }) => `${text(label)} (${text(type)})`;
/** The name is available while the webhook exists. */
const webhook: More = ({ id }, labels) => labels.get(text(id)) ?? text(id);
const person: More = ({ name, account, trusted }) =>
  [text(name), text(account), trusted === true ? m.audit_person_trusted() : ''].filter(Boolean).join(', ');
const approval: More = ({ tool, allow }) =>
  [text(tool), allow === true ? m.audit_allowed() : m.audit_refused()].filter(Boolean).join(', ');
const pressed: More = ({ account, person: id }) => [text(account), text(id)].filter(Boolean).join(', ');
const listed: More = ({ keys }) => (Array.isArray(keys) ? keys.map(text).join(', ') : '');
/** The row contains the label of a credential that no longer exists. */
const revoked =
  (field: string): More =>
  (detail) =>
    text(detail.label) || text(detail[field]);
const provider: More = ({ id }) => providerName(text(id));
const persona: More = ({ id }, labels) => labels.get(text(id)) ?? text(id);
const scopes: More = ({ label, scopes: list }) =>
  [text(label), Array.isArray(list) ? scopesInWords(list as Scope[]) : ''].filter(Boolean).join(', ');

export const SENTENCES: Record<string, Sentence> = {
  'login.succeeded': { title: m.audit_login_succeeded, more: by },
  'login.failed': { title: m.audit_login_failed },
  logout: { title: m.audit_logout },
  'connect.failed': { title: m.audit_connect_failed },
  'confirm.failed': { title: m.audit_confirm_failed },
  'setup.completed': { title: m.audit_setup_completed, more: by },
  'setup_code.wrong': { title: m.audit_setup_code_wrong },
  'setup_code.replaced': { title: m.audit_setup_code_replaced },
  'setup_code.closed': { title: m.audit_setup_code_closed },
  'setup_code.renewed': { title: m.audit_setup_code_renewed },
  'password.set': { title: m.audit_password_set },
  'password.changed': { title: m.audit_password_changed, more: count('sessions_ended', m.audit_sessions_count) },
  'password.change_failed': { title: m.audit_password_change_failed },
  'session.ended': { title: m.audit_session_ended },
  'sessions.ended': { title: m.audit_sessions_ended, more: count('ended', m.audit_sessions_count) },
  'session.shared': { title: m.audit_session_shared, more: named('session') },
  'session.unshared': { title: m.audit_session_unshared, more: named('session') },
  'api_key.created': { title: m.audit_api_key_created, more: scopes },
  'api_key.revoked': { title: m.audit_api_key_revoked, more: revoked('api_key') },
  'push.subscribed': { title: m.audit_push_subscribed, more: named('push_service') },
  'push.removed': { title: m.audit_push_removed, more: named('push_service') },
  'device.paired': { title: m.audit_device_paired, more: scopes },
  'device.revoked': { title: m.audit_device_revoked, more: revoked('device') },
  'passkey.added': { title: m.audit_passkey_added, more: named('name') },
  'passkey.renamed': { title: m.audit_passkey_renamed, more: named('name') },
  'passkey.failed': { title: m.audit_passkey_failed },
  'passkey.removed': { title: m.audit_passkey_removed, more: named('passkey') },
  'auth.reset': { title: m.audit_auth_reset },
  'vault.initialized': { title: m.audit_vault_initialized, more: count('migrated', m.audit_migrated) },
  'vault.unsealed': { title: m.audit_vault_unsealed, more: by },
  'vault.sealed': { title: m.audit_vault_sealed },
  'vault.rotated': { title: m.audit_vault_rotated, more: count('secrets', m.audit_secrets_count) },
  'vault.recovery_key': { title: m.audit_vault_recovery_key },
  'vault.rewrapped': { title: m.audit_vault_rewrapped },
  'vault.disabled': { title: m.audit_vault_disabled, more: count('decrypted', m.audit_decrypted) },
  'vault.enabled': { title: m.audit_vault_enabled, more: count('migrated', m.audit_migrated) },
  'vault.key_refused': { title: m.audit_vault_key_refused },
  'env.set': { title: m.audit_env_set, more: stored },
  'env.deleted': { title: m.audit_env_deleted, more: named('key') },
  'ssh_key.generated': { title: m.audit_ssh_key_generated, more: stored },
  'ssh_key.imported': { title: m.audit_ssh_key_imported, more: stored },
  'ssh_key.deleted': { title: m.audit_ssh_key_deleted, more: named('name') },
  'provider_key.set': { title: m.audit_provider_key_set, more: provider },
  'provider_key.removed': { title: m.audit_provider_key_removed, more: provider },
  'config.set': { title: m.audit_config_set, more: setting },
  'channel.created': { title: m.audit_channel_created, more: channel },
  'channel.updated': { title: m.audit_channel_updated, more: channel },
  'channel.deleted': { title: m.audit_channel_deleted, more: channel },
  'channel.paired': { title: m.audit_channel_paired, more: person },
  'channel.trusted': { title: m.audit_channel_trusted, more: person },
  'channel.unpaired': { title: m.audit_channel_unpaired, more: person },
  'webhook.created': { title: m.audit_webhook_created, more: named('name') },
  'webhook.updated': { title: m.audit_webhook_updated, more: named('name') },
  'webhook.secret_rotated': { title: m.audit_webhook_secret_rotated, more: named('name') },
  'webhook.deleted': { title: m.audit_webhook_deleted, more: named('name') },
  'webhook.tested': { title: m.audit_webhook_tested, more: webhook },
  'delivery.replayed': { title: m.audit_delivery_replayed, more: named('id') },
  'channel.tested': { title: m.audit_channel_tested, more: named('id') },
  'channel.sent': { title: m.audit_channel_sent, more: named('target') },
  'agent.created': { title: m.audit_agent_created, more: named('name', 'id') },
  'agent.updated': { title: m.audit_agent_updated, more: named('name', 'id') },
  'agent.deleted': { title: m.audit_agent_deleted, more: named('id') },
  'budget.set': { title: m.audit_budget_set, more: named('scope') },
  'budget.deleted': { title: m.audit_budget_deleted, more: named('scope') },
  'budget.warned': { title: m.audit_budget_warned, more: named('scope') },
  'preference.set': { title: m.audit_preference_set, more: named('name') },
  'preference.deleted': { title: m.audit_preference_deleted, more: named('name') },
  'persona.created': { title: m.audit_persona_created, more: persona },
  'persona.updated': { title: m.audit_persona_updated, more: persona },
  'persona.deleted': { title: m.audit_persona_deleted, more: persona },
  'persona.activated': { title: m.audit_persona_activated, more: persona },
  'approval.expired': { title: m.audit_approval_expired, more: named('tool') },
  'approval.press_refused': { title: m.audit_approval_press_refused, more: pressed },
  'approval.resolved': { title: m.audit_approval_resolved, more: approval },
  'session.deleted': { title: m.audit_session_deleted, more: named('key', 'id') },
  'settings.reverted': { title: m.audit_settings_reverted, more: listed },
  'approval.remembered': { title: m.audit_approval_remembered, more: named('tool') },
  'approval.forgotten': { title: m.audit_approval_forgotten, more: named('id') },
  'backup.created': { title: m.audit_backup_created, more: named('name') },
  'backup.downloaded': { title: m.audit_backup_downloaded, more: named('name') },
  'backup.failed': { title: m.audit_backup_failed, more: named('error') },
  'backup.restored': { title: m.audit_backup_restored, more: named('name') },
  'backup.not_verified': { title: m.audit_backup_not_verified, more: named('name', 'error') },
  'backup.unusable': { title: m.audit_backup_unusable, more: named('name', 'error') },
  'backup.verified': { title: m.audit_backup_verified, more: named('name') },
  'database.moved': { title: m.audit_database_moved, more: named('to') },
  'deliveries.released': { title: m.audit_deliveries_released, more: named('released') },
  'deliveries.replayed': { title: m.audit_deliveries_replayed, more: named('replayed') },
  'delivery.cancelled': { title: m.audit_delivery_cancelled, more: named('id') },
  'delivery.retried': { title: m.audit_delivery_retried, more: named('id') },
  'env.revealed': { title: m.audit_env_revealed, more: named('key') },
  'mcp.created': { title: m.audit_mcp_created, more: named('name') },
  'mcp.updated': { title: m.audit_mcp_updated, more: named('name') },
  'mcp.deleted': { title: m.audit_mcp_deleted, more: named('name') },
  'mcp.approved': { title: m.audit_mcp_approved, more: named('server', 'name') },
  'mcp.changed': { title: m.audit_mcp_changed, more: named('server', 'name') },
  'mcp.restarted': { title: m.audit_mcp_restarted, more: named('name') },
  'mcp.authorization_started': { title: m.audit_mcp_authorization_started, more: named('name') },
  'mcp.authorized': { title: m.audit_mcp_authorized, more: named('name') },
  'mcp.authorization_ended': { title: m.audit_mcp_authorization_ended, more: named('name') },
  'mcp.disconnected': { title: m.audit_mcp_disconnected, more: named('name') },
  'session.taint_cleared': { title: m.audit_session_taint_cleared, more: named('session') },
  'ssh_key.used': { title: m.audit_ssh_key_used, more: named('name') },
  'webhook.forwarded': { title: m.audit_webhook_forwarded, more: named('id') },
  'audit.cut': { title: m.audit_cut },
};

/**
 * Returns the title and details of a row. Unknown kinds keep their name. `labels` contains the labels of keys, devices
 * and personas by ID.
 */
export function sentence(
  kind: string,
  recorded: unknown,
  labels: ReadonlyMap<string, string>,
): { title: string; more: string } {
  const found = SENTENCES[kind];
  const given = (typeof recorded === 'object' && recorded !== null ? recorded : {}) as Detail;
  // `made` contains the names of created items, such as an ID that the gateway chose.
  const detail: Detail = { ...(given.made as Detail | undefined), ...given };
  const title = found?.title() ?? kind;
  // The gateway merges failures of one caller within a minute into one row.
  if (typeof detail.collapsed === 'number') return { title, more: m.audit_collapsed({ count: detail.collapsed }) };
  const label = detail.label ? '' : labels.get(text(detail.api_key ?? detail.device));
  return { title, more: [label, found?.more?.(detail, labels)].filter(Boolean).join(', ') };
}
