//! `/api/auth/*` but the vault.

mod api_keys;
mod login;
mod passkey_login;
mod passkey_setup;
mod passkeys;
mod password;
mod reset;
mod sessions;
mod setup;
mod status;
mod step_up;
mod throttle;
