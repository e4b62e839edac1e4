//! Access to the vault's endpoints, and the effect of a password on login and vault.

use crate::support::{AWAY, Gate, HERE, PASSWORD, caller, code_of, cookie_of};
use gatehouse_auth::api::{
    EmptyRequest, PasswordChangeRequest, VaultOptionalPassword, VaultPassword, VaultRecovery,
};
use gatehouse_domain::{ErrorCode, Scope};
use gatehouse_secrets::Status;
use gatehouse_store::testing::{databases, sqlite};
use secrecy::SecretString;
use std::sync::mpsc::sync_channel;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

fn with(password: &str) -> VaultPassword {
    VaultPassword {
        password: SecretString::from(password),
    }
}

async fn with_vault(database: gatehouse_store::testing::TestDatabase) -> (Gate, String, String) {
    let gate = Gate::open(database, true).await;
    let outcome = gate.setup(HERE, PASSWORD, None).await.unwrap();
    let cookie = cookie_of(&outcome.cookies);
    (gate, cookie, outcome.body.recovery_key.expect("shown once"))
}

#[tokio::test]
async fn setup_makes_the_vault_and_a_login_opens_it() {
    for database in databases().await {
        let (mut gate, cookie, recovery) = with_vault(database).await;
        assert_eq!(recovery.len(), 39);
        assert_eq!(gate.secrets.status(), Status::Unsealed);
        gate.restart().await;
        assert_eq!(gate.secrets.status(), Status::Sealed);
        assert!(gate.login(AWAY, "", "wrong").await.is_err());
        assert_eq!(gate.secrets.status(), Status::Sealed);
        gate.login(AWAY, "", PASSWORD).await.unwrap();
        assert_eq!(gate.secrets.status(), Status::Unsealed);
        let context = gate.context(HERE, &cookie).await;
        let wrong = gate
            .auth
            .vault_unlock(&caller(&context), with("wrong"))
            .await;
        assert_eq!(
            code_of(wrong),
            Some(ErrorCode::VaultBadKey),
            "also while unsealed"
        );
        let recovered = VaultRecovery {
            recovery_key: SecretString::from(recovery),
        };
        let answer = gate
            .auth
            .vault_recovery(&caller(&context), recovered)
            .await
            .unwrap();
        assert_eq!(answer.status, "unsealed");
    }
}

#[tokio::test]
async fn a_password_change_takes_the_vault_along_also_while_sealed() {
    for database in databases().await {
        let (mut gate, cookie, _) = with_vault(database).await;
        gate.restart().await;
        let context = gate.context(HERE, &cookie).await;
        let request = PasswordChangeRequest {
            current_password: Some(SecretString::from(PASSWORD)),
            new_password: SecretString::from("another fine password"),
            setup_code: None,
        };
        let done = gate
            .auth
            .change_password(&caller(&context), request)
            .await
            .unwrap();
        assert!(done.body.recovery_key.is_none());
        gate.login(AWAY, "", "another fine password").await.unwrap();
        assert_eq!(gate.secrets.status(), Status::Unsealed);
    }
}

#[tokio::test]
async fn scopes_and_confirmation_guard_the_vault() {
    let (gate, cookie, _) = with_vault(sqlite()).await;
    for scope in Scope::ALL {
        let key = gate.key(&cookie, &[scope]).await.key;
        let context = gate.context(AWAY, &key).await;
        let unlocked = gate
            .auth
            .vault_unlock(&caller(&context), with(PASSWORD))
            .await
            .is_ok();
        assert_eq!(
            unlocked,
            matches!(scope, Scope::Write | Scope::Admin),
            "{scope:?}"
        );
        let rotated = gate
            .auth
            .vault_rotate(&caller(&context), with("wrong"))
            .await;
        let expected = if scope == Scope::Admin {
            ErrorCode::VaultBadKey
        } else {
            ErrorCode::Forbidden
        };
        assert_eq!(code_of(rotated), Some(expected), "{scope:?}");
    }
    gate.advance(901);
    let context = gate.context(HERE, &cookie).await;
    let disable = VaultOptionalPassword { password: None };
    let refused = gate.auth.vault_disable(&caller(&context), disable).await;
    assert_eq!(code_of(refused), Some(ErrorCode::ConfirmationRequired));
    let refused = gate
        .auth
        .vault_recovery_key(&caller(&context), with("wrong"))
        .await;
    assert_eq!(code_of(refused), Some(ErrorCode::ConfirmationRequired));
    let made = gate
        .auth
        .vault_recovery_key(&caller(&context), with(PASSWORD))
        .await;
    assert!(made.is_ok(), "a right password in the request confirms");
    let disable = VaultOptionalPassword { password: None };
    let answer = gate
        .auth
        .vault_disable(&caller(&context), disable)
        .await
        .unwrap();
    assert_eq!(answer.status, "disabled");
}

#[tokio::test]
async fn initialize_takes_the_login_password_alone() {
    let (gate, cookie, _) = with_vault(sqlite()).await;
    let context = gate.context(HERE, &cookie).await;
    let exists = gate
        .auth
        .vault_initialize(&caller(&context), with("wrong"))
        .await;
    assert_eq!(code_of(exists), Some(ErrorCode::Conflict));
    let fresh = Gate::open(sqlite(), true).await;
    let context = fresh.context(HERE, "").await;
    let refused = fresh
        .auth
        .vault_initialize(&caller(&context), with(PASSWORD))
        .await;
    assert_eq!(
        code_of(refused),
        Some(ErrorCode::VaultBadKey),
        "there is no login password"
    );
    assert_eq!(fresh.secrets.status(), Status::Uninitialized);
}

#[tokio::test]
async fn guessing_the_vault_password_is_bounded_for_one_credential() {
    let (gate, cookie, _) = with_vault(sqlite()).await;
    let context = gate.context(HERE, &cookie).await;
    for round in 0..30 {
        let wrong = gate
            .auth
            .vault_unlock(&caller(&context), with("wrong"))
            .await;
        assert_eq!(code_of(wrong), Some(ErrorCode::VaultBadKey), "{round}");
    }
    let waits = gate
        .auth
        .vault_unlock(&caller(&context), with(PASSWORD))
        .await;
    assert_eq!(code_of(waits), Some(ErrorCode::RateLimited));
}

#[tokio::test]
async fn a_reset_keeps_the_vault_open_and_the_next_password_takes_it() {
    for database in databases().await {
        let (mut gate, cookie, _) = with_vault(database).await;
        let context = gate.context(HERE, &cookie).await;
        gate.auth.reset(&caller(&context)).await.unwrap();
        assert_eq!(gate.secrets.status(), Status::Unsealed);
        let again = gate
            .setup(HERE, "another fine password", None)
            .await
            .unwrap();
        assert!(again.body.recovery_key.is_none(), "the record was kept");
        gate.restart().await;
        gate.login(HERE, "", "another fine password").await.unwrap();
        assert_eq!(gate.secrets.status(), Status::Unsealed);
    }
}

/// The owner logs in on one device and seals on another. The later request wins.
#[tokio::test]
async fn a_seal_holds_against_a_login_that_began_before_it() {
    let (gate, cookie, _) = with_vault(sqlite()).await;
    // Both permits of the queue are in use, so the login below waits before its password is checked.
    let client = gate.context(HERE, &cookie).await.client.key;
    let (mut busy, mut releases) = (JoinSet::new(), Vec::new());
    for _ in 0..2 {
        let (release, held) = sync_channel::<()>(1);
        let (tell, started) = oneshot::channel();
        let kdf = gate.kdf.clone();
        busy.spawn(async move {
            let job = move || {
                tell.send(()).unwrap();
                held.recv().is_err()
            };
            kdf.run(client, job).await
        });
        started.await.unwrap();
        releases.push(release);
    }
    let mut login = Box::pin(gate.login(AWAY, "", PASSWORD));
    let owner = gate.context(HERE, &cookie).await;
    let sealing = async {
        // Yields often enough for the login to reach the queue.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        gate.auth.vault_seal(&caller(&owner), EmptyRequest {}).await
    };
    let sealed = tokio::select! {
        biased;
        _ = &mut login => panic!("the login did not wait"),
        sealed = sealing => sealed.unwrap(),
    };
    assert_eq!(sealed.status, "sealed");
    drop(releases);
    login.await.unwrap();
    assert_eq!(busy.join_all().await, [Ok(true), Ok(true)]);
    assert_eq!(
        gate.secrets.status(),
        Status::Sealed,
        "the login undid the seal"
    );
    gate.login(AWAY, "", PASSWORD).await.unwrap();
    assert_eq!(gate.secrets.status(), Status::Unsealed);
}

/// Creates a vault whose password differs from the login password. The vault was created before a reset and has not
/// been opened since.
async fn with_two_passwords() -> (Gate, String) {
    let (mut gate, _, _) = with_vault(sqlite()).await;
    gate.auth.offline_reset().await.unwrap();
    gate.restart().await;
    let outcome = gate.setup(HERE, LOGIN, None).await.unwrap();
    assert_eq!(gate.secrets.status(), Status::Sealed);
    (gate, cookie_of(&outcome.cookies))
}

const LOGIN: &str = "the login's own password";

async fn may_reset(gate: &Gate, cookie: &str) -> bool {
    let context = gate.context(HERE, cookie).await;
    let identity = context.identity().unwrap();
    gate.auth.require_step_up(identity).await.is_ok()
}

#[tokio::test]
async fn a_vault_password_that_is_not_the_login_s_is_no_confirmation() {
    let (gate, cookie) = with_two_passwords().await;
    gate.advance(600);
    let context = gate.context(HERE, &cookie).await;
    // Opens the vault.
    let unlocked = gate
        .auth
        .vault_unlock(&caller(&context), with(PASSWORD))
        .await;
    unlocked.unwrap();
    // The last confirmation is ten minutes old. These operations are allowed but do not renew it.
    let made = gate
        .auth
        .vault_recovery_key(&caller(&context), with(PASSWORD))
        .await;
    made.unwrap();
    let rotated = gate
        .auth
        .vault_rotate(&caller(&context), with(PASSWORD))
        .await;
    rotated.unwrap();
    let disable = VaultOptionalPassword {
        password: Some(SecretString::from(PASSWORD)),
    };
    gate.auth
        .vault_disable(&caller(&context), disable)
        .await
        .unwrap();
    assert!(may_reset(&gate, &cookie).await);
    gate.advance(301);
    assert!(
        !may_reset(&gate, &cookie).await,
        "the login was fifteen minutes ago, and the login's password was not sent since"
    );
}

#[tokio::test]
async fn the_login_s_password_confirms_where_it_opens_the_vault() {
    let (mut gate, cookie, _) = with_vault(sqlite()).await;
    gate.restart().await;
    gate.advance(1000);
    assert!(!may_reset(&gate, &cookie).await);
    let context = gate.context(HERE, &cookie).await;
    let unlocked = gate
        .auth
        .vault_unlock(&caller(&context), with(PASSWORD))
        .await;
    unlocked.unwrap();
    assert!(may_reset(&gate, &cookie).await);
}
