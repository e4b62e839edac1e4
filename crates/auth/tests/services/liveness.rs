//! A credential that another node ended cannot write on this node, even before memory is updated.

use crate::support::{AWAY, Gate, HERE, PASSWORD, caller, code_of, context, key_request};
use gatehouse_auth::api::{ConnectAuth, PasswordChangeRequest};
use gatehouse_auth::{Auth, AuthIdentity, BeforeSetup};
use gatehouse_domain::{Clock, ErrorCode, Problem, Scope};
use gatehouse_store::testing::databases;
use gatehouse_store::{Store, StoreError};
use secrecy::SecretString;
use std::time::Duration;

/// Writes as this identity. Returns the error code if refused.
async fn write_as(auth: &Auth, store: &Store, identity: &AuthIdentity) -> Option<ErrorCode> {
    let guard = auth.guard(identity, BeforeSetup::AsSet);
    let write = store.write(|conn| {
        Box::pin(async move {
            let now = gatehouse_domain::Timestamp::from_millis(0);
            conn.update_setting("written", &true.into(), now).await
        })
    });
    let outcome: Result<(), StoreError> = guard.over(write).await;
    outcome.err().map(|error| Problem::from(error).code)
}

async fn is_written(store: &Store) -> bool {
    let found = store.read(|conn| Box::pin(async move { conn.find_setting("written").await }));
    let found: Result<_, StoreError> = found.await;
    found.unwrap().is_some()
}

const ENDED: Option<ErrorCode> = Some(ErrorCode::NotAuthenticated);

#[tokio::test]
async fn a_session_and_its_key_that_another_node_ended_write_nothing() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let key = gate.key(&cookie, &[Scope::Admin]).await;
        let other = gate.second_node().await;
        let store = gate.database.open().await;
        let by_cookie = context(&other, HERE, &cookie).await;
        let by_key = context(&other, AWAY, &key.key).await;
        let owner = gate.context(HERE, &cookie).await;
        gate.auth
            .delete_api_key(&caller(&owner), &key.id, false)
            .await
            .unwrap();
        let identity = by_key.identity().unwrap();
        assert!(other.is_live(identity), "its memory does not know");
        assert_eq!(write_as(&other, &store, identity).await, ENDED);
        let request = key_request(&[Scope::Read]);
        let minted = other.create_api_key(&caller(&by_key), request).await;
        assert_eq!(code_of(minted), ENDED);

        gate.auth.logout(&caller(&owner)).await.unwrap();
        let identity = by_cookie.identity().unwrap();
        assert!(other.is_live(identity), "its memory does not know");
        assert_eq!(write_as(&other, &store, identity).await, ENDED);
        assert!(!is_written(&store).await);
    }
}

#[tokio::test]
async fn a_password_that_another_node_changed_writes_nothing() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let other = gate.second_node().await;
        let store = gate.database.open().await;
        let away = context(&other, AWAY, "").await;
        let auth = ConnectAuth {
            password: Some(SecretString::from(PASSWORD)),
            ..ConnectAuth::default()
        };
        let identity = other.socket_login(&away, auth).await.unwrap();
        assert_eq!(write_as(&other, &store, &identity).await, None);
        let owner = gate.context(HERE, &cookie).await;
        let request = PasswordChangeRequest {
            current_password: Some(SecretString::from(PASSWORD)),
            new_password: SecretString::from("another fine password"),
            setup_code: None,
        };
        gate.auth
            .change_password(&caller(&owner), request)
            .await
            .unwrap();
        assert!(other.is_live(&identity), "its memory does not know");
        assert_eq!(write_as(&other, &store, &identity).await, ENDED);
    }
}

#[tokio::test]
async fn rows_1_and_2_end_where_another_node_completed_setup() {
    for database in databases().await {
        let gate = Gate::on(database).await;
        let other = gate.second_node().await;
        let store = gate.database.open().await;
        let local = context(&other, HERE, "").await;
        assert_eq!(
            write_as(&other, &store, local.identity().unwrap()).await,
            None
        );
        gate.auth.offline_reset().await.unwrap();
        let third = gate.second_node().await;
        let disabled = context(&third, AWAY, "").await;
        assert_eq!(
            write_as(&third, &store, disabled.identity().unwrap()).await,
            None
        );
        gate.setup(HERE, PASSWORD, None).await.unwrap();
        assert_eq!(
            write_as(&other, &store, local.identity().unwrap()).await,
            ENDED
        );
        assert_eq!(
            write_as(&third, &store, disabled.identity().unwrap()).await,
            ENDED
        );
    }
}

#[tokio::test]
async fn a_key_that_has_expired_writes_nothing() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let owner = gate.context(HERE, &cookie).await;
        let mut request = key_request(&[Scope::Admin]);
        request.expires_at = Some(gate.clock.now().after(Duration::from_secs(10)));
        let key = gate
            .auth
            .create_api_key(&caller(&owner), request)
            .await
            .unwrap();
        let by_key = gate.context(AWAY, &key.key).await;
        gate.advance(9);
        let identity = by_key.identity().unwrap();
        assert_eq!(write_as(&gate.auth, &gate.store, identity).await, None);
        gate.advance(1);
        assert_eq!(write_as(&gate.auth, &gate.store, identity).await, ENDED);
    }
}
