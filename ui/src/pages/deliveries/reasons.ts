// Texts for the gateway's refusal reasons and for its sentences about failures. Sentences of vendors are shown
// unchanged.
import { m } from '../../paraglide/messages.js';
import { toldFailure } from '../../phrases/failures.svelte';

const REASONS: Record<string, () => string> = {
  missing_signature: m.deliveries_reason_missing_signature,
  wrong_signature: m.deliveries_reason_wrong_signature,
  malformed_signature: m.deliveries_reason_malformed_signature,
  missing_timestamp: m.deliveries_reason_missing_timestamp,
  stale_timestamp: m.deliveries_reason_stale_timestamp,
  future_timestamp: m.deliveries_reason_future_timestamp,
  too_many_signatures: m.deliveries_reason_malformed_signature,
  header_too_large: m.deliveries_reason_malformed_signature,
  no_secret: m.deliveries_reason_no_secret,
  profile_missing: m.deliveries_reason_profile_missing,
  address_not_allowed: m.deliveries_reason_address_not_allowed,
  body_too_large: m.deliveries_reason_body_too_large,
  empty_body: m.deliveries_reason_empty_body,
  not_utf8: m.deliveries_reason_not_json,
  not_json: m.deliveries_reason_not_json,
  no_payload_field: m.deliveries_reason_not_json,
  too_deep: m.deliveries_reason_too_large,
  too_large: m.deliveries_reason_too_large,
  held_unreadable: m.deliveries_reason_held_unreadable,
  webhook_is_schedule: m.deliveries_reason_webhook_is_schedule,
};

/** The gateway's sentences about a provider that cannot be used before its settings change. */
const PROVIDER =
  /^(The model provider .+ (rejected the key|has no key|has no default model|offers several models|reports that the account)|Ollama offers several models|The (key|address) of the model provider |There is no model provider |No language model is configured)/;

/** Returns whether the settings of the model provider must change before a replay can succeed. */
export const isOfProvider = (error: string): boolean => PROVIDER.test(error);

export const reasonOf = (error: string): string => REASONS[error]?.() ?? toldFailure(error);
