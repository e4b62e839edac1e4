// Authentication modes: names, who generates the secret, and which are offered.
import type { AuthMode } from '../../../client/generated/rpc';
import { m } from '../../../paraglide/messages.js';

const NAMES: Record<AuthMode, () => string> = {
  none: m.webhooks_mode_none,
  static_header: m.webhooks_mode_static_header,
  bearer: m.webhooks_mode_bearer,
  codehost_a_hmac_sha256: m.webhooks_mode_codehost_a,
  codehost_b_token: m.webhooks_mode_codehost_b,
  payments_webhook_signature: m.webhooks_mode_payments,
  tracker_a_webhook_signature: m.webhooks_mode_tracker_a,
  incident_v2_signature: m.webhooks_mode_incident,
  errors_webhook_signature: m.webhooks_mode_errors,
  standard_webhooks: m.webhooks_mode_standard,
  slack_signature: m.webhooks_mode_slack,
  shopify_hmac_sha256: m.webhooks_mode_shopify,
  twilio_signature: m.webhooks_mode_twilio,
};

export const modeName = (mode: AuthMode): string => NAMES[mode]();

/** Modes in which the sender generates the secret and the user pastes it here. */
const BROUGHT: ReadonlySet<AuthMode> = new Set<AuthMode>([
  'payments_webhook_signature',
  'tracker_a_webhook_signature',
  'incident_v2_signature',
  'errors_webhook_signature',
  'slack_signature',
  'shopify_hmac_sha256',
  'twilio_signature',
]);

export const isSecretBrought = (mode: AuthMode): boolean => BROUGHT.has(mode);

const GENERAL: readonly AuthMode[] = ['static_header', 'bearer', 'standard_webhooks', 'none'];

/** The modes to offer: the sender's own first, then the general ones. The generic profile offers all. */
export function modesFor(profile: string, own: AuthMode, current: AuthMode): AuthMode[] {
  const all = profile === 'generic' ? [...GENERAL, ...(Object.keys(NAMES) as AuthMode[])] : [own, ...GENERAL, current];
  return [...new Set(all)];
}
