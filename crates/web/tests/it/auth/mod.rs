//! `/api/auth/*` except the vault.

mod api_keys;
mod lineage;
mod lineage_of_sessions;
mod local_code;
mod login;
mod only;
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
