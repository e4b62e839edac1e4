//! Servers in a given state with credentials of every kind, created directly in the database.

use data_encoding::HEXLOWER;
use gatehouse_domain::{
    ApiKeyId, AuthSessionId, Clock, ManualClock, Random, Scope, ScopeSet, SystemRandom, Timestamp,
};
use gatehouse_store::testing::sqlite;
use gatehouse_store::{ApiKeyRow, AuthSessionRow, Store, StoreError, VaultRow};
use gatehouse_testkit::{Options, PASSWORD, TestServer};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The setup state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    Incomplete,
    Complete,
    AuthDisabled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vault {
    Sealed,
    Unsealed,
}

/// The secrets of the prepared credentials, by name.
pub struct Credentials(Vec<(&'static str, String)>);

impl Credentials {
    pub fn of(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| *known == name);
        &found
            .unwrap_or_else(|| panic!("no credential is called {name}"))
            .1
    }
}

const YEAR_MS: i64 = 365 * 86_400_000;

fn now() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
}

fn hash(secret: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(secret))
}

fn session_row(name: &str, secret: &str) -> AuthSessionRow {
    let (now, long) = (now().as_millis(), 30 * YEAR_MS);
    let at = Timestamp::from_millis;
    AuthSessionRow {
        id: AuthSessionId::from_text(format!("as_{name}")),
        token_hash: hash(secret),
        login_method: "password".into(),
        user_agent: None,
        client_ip: None,
        created_at: at(now - 7_200_000),
        last_seen_at: at(now - 7_200_000),
        expires_at: at(if name.ends_with("expired") {
            now
        } else {
            now + long
        }),
        confirmed_at: at(now - 3_600_000),
        made_by: None,
        passkey_id: None,
    }
}

fn key_row(name: &str, secret: &str) -> ApiKeyRow {
    let scope = name.parse::<Scope>().unwrap_or(Scope::Admin);
    ApiKeyRow {
        id: ApiKeyId::from_text(format!("key_{name}")),
        key_hash: hash(secret),
        prefix: secret.chars().take(11).collect(),
        label: name.into(),
        scopes: ScopeSet::from_iter([scope]),
        allowed_cidrs: None,
        created_at: now(),
        expires_at: (name == "key_expired").then(now),
        last_used_at: None,
        made_by: None,
        only: None,
        dies_at_setup: false,
    }
}

fn make_credentials() -> Credentials {
    let random: &dyn Random = &SystemRandom;
    let names = [
        "session",
        "session_expired",
        "session_revoked",
        "operator.read",
        "operator.write",
        "operator.admin",
        "operator.approvals",
        "operator.pairing",
        "key_expired",
        "key_revoked",
    ];
    let secret = |name: &str| {
        let text = data_encoding::BASE64URL_NOPAD.encode(&random.bytes::<32>());
        if name.starts_with("session") {
            text
        } else {
            format!("mk_{text}")
        }
    };
    Credentials(names.map(|name| (name, secret(name))).to_vec())
}

async fn fill(store: &Store, credentials: &Credentials, setup: Setup, vault: VaultRow) {
    let sessions: Vec<_> = credentials
        .0
        .iter()
        .filter(|(name, _)| name.starts_with("session") && !name.ends_with("revoked"))
        .map(|(name, secret)| session_row(name, secret))
        .collect();
    let keys: Vec<_> = credentials
        .0
        .iter()
        .filter(|(name, _)| !name.starts_with("session") && !name.ends_with("revoked"))
        .map(|(name, secret)| key_row(name, secret))
        .collect();
    let filled: Result<(), StoreError> = store
        .write(move |conn| {
            Box::pin(async move {
                for row in &sessions {
                    conn.insert_auth_session(row).await?;
                }
                for row in &keys {
                    conn.insert_api_key(row).await?;
                }
                conn.insert_vault(&vault).await?;
                match setup {
                    Setup::Incomplete => {}
                    Setup::Complete => {
                        // A hash that no password matches, so password logins always fail here.
                        conn.insert_password_hash("$argon2id$v=19$m=65536,t=3,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", now()).await?;
                    }
                    Setup::AuthDisabled => {
                        conn.update_setting("auth_disabled", &true.into(), now()).await?;
                    }
                }
                Ok(())
            })
        })
        .await;
    filled.unwrap();
}

fn vault_record() -> (VaultRow, SecretString) {
    let password = SecretString::from(PASSWORD);
    let (record, _dek, recovery) =
        gatehouse_vault::create(&password, &SystemRandom, now()).unwrap();
    let row = VaultRow {
        version: record.version,
        kdf_salt: record.kdf_salt,
        kdf_params: record.kdf_params,
        wrapped_dek: record.wrapped_dek,
        recovery_wrapped_dek: record.recovery_wrapped_dek,
        recovery_key_hash: record.recovery_key_hash,
        dek_id: record.dek_id,
        dek_commitment: record.dek_commitment,
        hold_public_key: record.hold_public_key,
        hold_private_key: record.hold_private_key,
        created_at: record.created_at,
        updated_at: record.updated_at,
    };
    (row, recovery.to_display())
}

/// Starts a server in this state. Returns it with its clock and a credential of every kind.
pub async fn start(
    setup: Setup,
    vault: Vault,
    behind_proxy: bool,
) -> (TestServer, Arc<ManualClock>, Credentials) {
    let database = sqlite();
    let credentials = make_credentials();
    let (row, recovery_key) = vault_record();
    let store = database.open().await;
    fill(&store, &credentials, setup, row).await;
    store.close().await;
    let clock = Arc::new(ManualClock::at(now()));
    let mut options = Options::default()
        .database(database)
        .clock(Arc::clone(&clock));
    if behind_proxy {
        options = options.env("SERVICE_BEHIND_PROXY", "true");
    }
    if vault == Vault::Unsealed {
        options = options.env(
            "SERVICE_VAULT_AUTO_UNSEAL_KEY",
            recovery_key.expose_secret(),
        );
    }
    let server = TestServer::start(options).await;
    assert_eq!(clock.now(), now());
    (server, clock, credentials)
}
