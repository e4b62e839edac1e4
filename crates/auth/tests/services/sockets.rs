//! The `connect` message of a socket.

use crate::support::{AWAY, Gate, HERE, PASSWORD, caller, code_of};
use gatehouse_auth::AuthMethod;
use gatehouse_auth::api::{ConnectAuth, PasswordChangeRequest};
use gatehouse_domain::{ErrorCode, Scope};
use gatehouse_store::testing::{databases, sqlite};
use secrecy::SecretString;

fn by_key(key: &str) -> ConnectAuth {
    ConnectAuth {
        api_key: Some(SecretString::from(key)),
        ..ConnectAuth::default()
    }
}

fn by_password(password: &str) -> ConnectAuth {
    ConnectAuth {
        password: Some(SecretString::from(password)),
        ..ConnectAuth::default()
    }
}

#[tokio::test]
async fn a_socket_is_recognised_by_key_or_password() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let key = gate.key(&cookie, &[Scope::Read]).await.key;
        let context = gate.context(AWAY, "").await;
        let identity = gate
            .auth
            .socket_login(&context, by_key(&key))
            .await
            .unwrap();
        assert_eq!(identity.method, AuthMethod::ApiKey);
        let socket = gate
            .auth
            .socket_login(&context, by_password(PASSWORD))
            .await
            .unwrap();
        assert_eq!(socket.method, AuthMethod::Password);
        assert!(gate.auth.is_live(&socket));
        let none = gate
            .auth
            .socket_login(&context, ConnectAuth::default())
            .await;
        assert_eq!(code_of(none), Some(ErrorCode::NotAuthenticated));

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
        assert!(!gate.auth.is_live(&socket), "its password is no more");
        assert!(gate.auth.is_live(&identity), "the key stays");
    }
}

#[tokio::test]
async fn five_wrong_connects_a_minute_and_the_next_waits() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    let key = gate.key(&cookie, &[Scope::Read]).await.key;
    let context = gate.context(AWAY, "").await;
    let wrong_key = format!("mk_{}", "A".repeat(43));
    for round in 0..5 {
        let wrong = if round % 2 == 0 {
            by_key(&wrong_key)
        } else {
            by_password("wrong")
        };
        let refused = gate.auth.socket_login(&context, wrong).await;
        assert_eq!(
            code_of(refused),
            Some(ErrorCode::InvalidCredentials),
            "{round}"
        );
    }
    for sixth in [by_key(&wrong_key), by_password(PASSWORD)] {
        let waits = gate.auth.socket_login(&context, sixth).await;
        assert_eq!(code_of(waits), Some(ErrorCode::RateLimited));
    }
    // A valid key does not count, even from an address with wrong attempts.
    assert!(gate.auth.socket_login(&context, by_key(&key)).await.is_ok());
    gate.advance(60);
    let right = gate
        .auth
        .socket_login(&context, by_password(PASSWORD))
        .await;
    assert!(right.is_ok());
}

#[tokio::test]
async fn rows_1_to_3_come_first() {
    let gate = Gate::on(sqlite()).await;
    let away = gate.context(AWAY, "").await;
    let refused = gate.auth.socket_login(&away, by_password(PASSWORD)).await;
    assert_eq!(code_of(refused), Some(ErrorCode::SetupRequired));
    gate.auth.offline_reset().await.unwrap();
    let identity = gate
        .auth
        .socket_login(&away, by_password("anything"))
        .await
        .unwrap();
    assert_eq!(identity.method, AuthMethod::Loopback);
}

#[tokio::test]
async fn no_more_wrong_connects_are_evaluated_than_allowed_however_parallel() {
    let (gate, _) = Gate::with_owner(sqlite()).await;
    let context = gate.context(AWAY, "").await;
    for round in 0..4 {
        let refused = gate.auth.socket_login(&context, by_password("")).await;
        assert_eq!(
            code_of(refused),
            Some(ErrorCode::InvalidCredentials),
            "{round}"
        );
    }
    // The correct password is last, so it is checked only if a slot is left.
    let tries = (0..8).map(|number| {
        let password = if number == 7 { PASSWORD } else { "a wrong one" };
        gate.auth.socket_login(&context, by_password(password))
    });
    let outcomes = futures_util::future::join_all(tries).await;
    let codes: Vec<_> = outcomes.into_iter().map(code_of).collect();
    let evaluated = codes
        .iter()
        .filter(|code| **code != Some(ErrorCode::RateLimited))
        .count();
    assert_eq!(evaluated, 1, "{codes:?}");
}
