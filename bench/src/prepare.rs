//! Creates databases with many credentials and secrets by inserting rows.

use anyhow::Result;
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use gatehouse_domain::{
    ApiKeyId, AuthSessionId, Clock, Random, ScopeSet, SystemClock, SystemRandom, Timestamp,
};
use gatehouse_store::{ApiKeyRow, AuthSessionRow, EnvVariableRow, Location, Store, StoreError};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Duration;

pub const SESSIONS: usize = 10_000;
pub const KEYS: usize = 1_000;
pub const VARIABLES: usize = 10_000;

/// A credential and its ID.
#[derive(Clone, Debug)]
pub struct Credential {
    /// Used for revocation.
    pub id: String,
    /// The cookie's value, or the key.
    pub secret: String,
}

/// The inserted credentials.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub sessions: Vec<Credential>,
    /// API keys with every scope.
    pub keys: Vec<Credential>,
}

/// Generates a random secret in the form that clients send.
pub fn secret(prefix: &str) -> String {
    let random: &dyn Random = &SystemRandom;
    format!("{prefix}{}", BASE64URL_NOPAD.encode(&random.bytes::<32>()))
}

fn hash(secret: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(secret))
}

/// Returns the location of a data directory's database.
pub fn location(data_dir: &Path) -> Location {
    Location::sqlite_file(&data_dir.join("gatehouse.db"))
}

fn credentials() -> Credentials {
    let clock = SystemClock::new();
    let session = |_| Credential {
        id: AuthSessionId::generate(&clock, &SystemRandom)
            .as_str()
            .to_owned(),
        secret: secret(""),
    };
    let key = |_| Credential {
        id: ApiKeyId::generate(&clock, &SystemRandom)
            .as_str()
            .to_owned(),
        secret: secret("mk_"),
    };
    Credentials {
        sessions: (0..SESSIONS).map(session).collect(),
        keys: (0..KEYS).map(key).collect(),
    }
}

fn session_row(session: &Credential, now: Timestamp) -> AuthSessionRow {
    AuthSessionRow {
        id: AuthSessionId::from_text(session.id.clone()),
        token_hash: hash(&session.secret),
        login_method: "password".into(),
        user_agent: Some("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101".into()),
        client_ip: Some("127.0.0.1".into()),
        created_at: now,
        last_seen_at: now,
        expires_at: now.after(Duration::from_hours(30 * 24)),
        confirmed_at: now,
        made_by: None,
        passkey_id: None,
    }
}

fn key_row(key: &Credential, now: Timestamp) -> ApiKeyRow {
    ApiKeyRow {
        id: ApiKeyId::from_text(key.id.clone()),
        key_hash: hash(&key.secret),
        prefix: key.secret.chars().take(11).collect(),
        label: "bench".into(),
        scopes: ScopeSet::all(),
        allowed_cidrs: None,
        created_at: now,
        expires_at: None,
        last_used_at: None,
        dies_at_setup: false,
        made_by: None,
        only: None,
    }
}

fn variable_row(number: usize, now: Timestamp) -> EnvVariableRow {
    EnvVariableRow {
        key: format!("BENCH_{number}"),
        value: secret("value-"),
        encrypted: false,
        belongs_to: None,
        created_at: now,
        updated_at: now,
    }
}

/// Adds credentials to the database of a stopped server.
pub async fn add_credentials(data_dir: &Path) -> Result<Credentials> {
    let made = credentials();
    let now = SystemClock::new().now();
    let store = Store::open(&location(data_dir)).await?;
    let sessions: Vec<_> = made
        .sessions
        .iter()
        .map(|one| session_row(one, now))
        .collect();
    let keys: Vec<_> = made.keys.iter().map(|one| key_row(one, now)).collect();
    let filled: Result<(), StoreError> = store
        .write(move |conn| {
            Box::pin(async move {
                for row in &sessions {
                    conn.insert_auth_session(row).await?;
                }
                for row in &keys {
                    conn.insert_api_key(row).await?;
                }
                Ok(())
            })
        })
        .await;
    filled?;
    store.close().await;
    Ok(made)
}

/// Adds plaintext environment variables to the database of a stopped server.
pub async fn add_variables(data_dir: &Path) -> Result<()> {
    let now = SystemClock::new().now();
    let store = Store::open(&location(data_dir)).await?;
    let filled: Result<(), StoreError> = store
        .write(move |conn| {
            Box::pin(async move {
                for number in 0..VARIABLES {
                    conn.update_env_variable(&variable_row(number, now)).await?;
                }
                Ok(())
            })
        })
        .await;
    filled?;
    store.close().await;
    Ok(())
}
