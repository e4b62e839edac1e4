// Shows the gateway's errors in the language of the page. The gateway writes English. In other languages, the page
// shows the general meaning of the code, and adds the gateway's sentence where it is more specific.
import { m } from '../paraglide/messages.js';
import { baseLocale, getLocale } from '../paraglide/runtime.js';

/** Codes whose sentence is complete without the gateway's. */
const WHOLE: Record<string, () => string> = {
  AUTH_NOT_AUTHENTICATED: m.client_error_not_authenticated,
  INTERNAL: m.client_error_internal,
  INVALID_CREDENTIALS: m.client_error_wrong_credentials,
  STORAGE_UNAVAILABLE: m.client_error_storage,
  VAULT_BAD_KEY: m.client_error_wrong_key,
};

/** Codes for which the gateway's sentence is more specific. */
const PARTIAL: Record<string, () => string> = {
  BUDGET_EXHAUSTED: m.client_error_budget_exhausted,
  CONFLICT: m.client_error_conflict,
  FORBIDDEN: m.client_error_forbidden,
  INVALID_PARAMS: m.client_error_invalid,
  INVALID_REQUEST: m.client_error_invalid,
  NOT_CONFIGURED: m.client_error_not_configured,
  NOT_FOUND: m.client_error_not_found,
  PAYLOAD_TOO_LARGE: m.client_error_too_large,
  PROVIDER_FAILED: m.client_error_provider_failed,
  TIMEOUT: m.client_error_timeout,
};

/** The text of an error for people. `message` is the gateway's. */
export function translated(code: string, message: string, waitSeconds?: number): string {
  if (getLocale() === baseLocale) return message;
  if (code === 'RATE_LIMITED' && waitSeconds) return m.client_error_rate_limited({ seconds: waitSeconds });
  const [whole, partial] = [WHOLE[code], PARTIAL[code]];
  if (whole) return whole();
  return partial ? `${partial()} (${message})` : message;
}
