//! Setup: its code, concurrent requests, its single transaction.

use crate::support::{AWAY, Gate, HERE, PASSWORD, caller, code_of, cookie_of};
use gatehouse_auth::AuthSettings;
use gatehouse_auth::api::{PasswordChangeRequest, SetupRequest};
use gatehouse_domain::ErrorCode;
use gatehouse_store::testing::{databases, sqlite};
use secrecy::SecretString;

#[tokio::test]
async fn of_two_racing_setups_one_is_refused() {
    for database in databases().await {
        let gate = Gate::on(database).await;
        let code = gate.code().unwrap();
        let (a, b) = tokio::join!(
            gate.setup(HERE, PASSWORD, None),
            gate.setup(AWAY, "another fine password", Some(&code)),
        );
        let outcomes = [code_of(a), code_of(b)];
        assert!(outcomes.contains(&None), "{outcomes:?}");
        assert!(
            outcomes.contains(&Some(ErrorCode::Conflict)),
            "{outcomes:?}"
        );
        assert_eq!(gate.code(), None, "the code is gone");
        let again = gate.setup(HERE, PASSWORD, None).await;
        assert_eq!(code_of(again), Some(ErrorCode::Conflict));
    }
}

#[tokio::test]
async fn a_remote_caller_sends_the_live_code_and_a_local_one_need_not() {
    for database in databases().await {
        let gate = Gate::on(database).await;
        let code = gate.code().unwrap();
        assert!(code.len() == 6 && code.bytes().all(|b| b.is_ascii_digit()));
        let refused = gate.setup(AWAY, "short", None).await;
        assert_eq!(
            code_of(refused),
            Some(ErrorCode::Forbidden),
            "before the rest of the body"
        );
        let short = gate.setup(AWAY, "11 charsxxx", Some(&code)).await;
        assert_eq!(code_of(short), Some(ErrorCode::InvalidParams));
        let outcome = gate.setup(AWAY, "12 charsxxxx", Some(&code)).await.unwrap();
        assert!(gate.is_let_in(AWAY, &cookie_of(&outcome.cookies)).await);
        let facts = gate.auth.facts();
        assert!(facts.setup_complete && facts.has_password && !facts.auth_disabled);
    }
}

#[tokio::test]
async fn a_local_code_is_ignored_unless_the_setting_demands_it() {
    let gate = Gate::on(sqlite()).await;
    gate.auth.update_settings(AuthSettings {
        local_setup_code: true,
        ..AuthSettings::default()
    });
    let code = gate.code().unwrap();
    assert_eq!(
        code_of(gate.setup(HERE, PASSWORD, None).await),
        Some(ErrorCode::Forbidden)
    );
    gate.auth.update_settings(AuthSettings::default());
    assert_eq!(
        code_of(gate.setup(HERE, PASSWORD, Some("nonsense")).await),
        None
    );
    assert!(gate.code().is_none() && !code.is_empty());
}

#[tokio::test]
async fn a_missing_password_is_said_only_after_the_code() {
    let gate = Gate::on(sqlite()).await;
    for (peer, expected) in [
        (AWAY, ErrorCode::Forbidden),
        (HERE, ErrorCode::InvalidParams),
    ] {
        let context = gate.context(peer, "").await;
        let request = SetupRequest {
            password: None,
            setup_code: None,
        };
        assert_eq!(
            code_of(gate.auth.setup(&caller(&context), request).await),
            Some(expected)
        );
    }
}

async fn guess(gate: &Gate, times: usize) -> Vec<ErrorCode> {
    let mut answers = Vec::new();
    for _ in 0..times {
        answers.push(code_of(gate.setup(AWAY, PASSWORD, Some("not it")).await).unwrap());
    }
    answers
}

#[tokio::test]
async fn guessing_uses_up_codes_and_then_closes_remote_setup() {
    for database in databases().await {
        let mut gate = Gate::on(database).await;
        let first = gate.code().unwrap();
        assert_eq!(guess(&gate, 9).await, [ErrorCode::Forbidden; 9]);
        assert_eq!(gate.code(), Some(first.clone()));
        assert_eq!(guess(&gate, 1).await, [ErrorCode::Forbidden]);
        let second = gate.code().unwrap();
        assert_ne!(second, first, "replaced at once");
        assert_eq!(guess(&gate, 10).await, [ErrorCode::Forbidden; 10]);
        assert_eq!(gate.code(), Some(second.clone()), "not again so soon");
        let waits = gate.setup(AWAY, PASSWORD, Some(&second)).await;
        assert_eq!(
            code_of(waits),
            Some(ErrorCode::RateLimited),
            "even the right one"
        );
        for _ in 3..=5 {
            gate.advance(600);
            assert_eq!(guess(&gate, 10).await, [ErrorCode::Forbidden; 10]);
        }
        let fifth = gate.code().unwrap();
        gate.advance(86_400);
        let closed = gate.setup(AWAY, PASSWORD, Some(&fifth)).await;
        assert_eq!(code_of(closed), Some(ErrorCode::Forbidden));
        gate.restart().await;
        let reopened = gate.code().unwrap();
        assert_ne!(reopened, fifth);
        assert_eq!(
            code_of(gate.setup(AWAY, PASSWORD, Some(&reopened)).await),
            None
        );
    }
}

#[tokio::test]
async fn the_command_opens_remote_setup_again() {
    let gate = Gate::on(sqlite()).await;
    for _ in 0..5 {
        guess(&gate, 10).await;
        gate.advance(600);
    }
    let closed = gate.code().unwrap();
    let code = gate.auth.offline_setup_code().await.unwrap();
    assert_ne!(code, closed);
    assert_eq!(gate.code(), Some(code.clone()));
    assert_eq!(code_of(gate.setup(AWAY, PASSWORD, Some(&code)).await), None);
    assert_eq!(
        code_of(gate.auth.offline_setup_code().await),
        Some(ErrorCode::Conflict)
    );
}

#[tokio::test]
async fn a_code_survives_a_restart() {
    for database in databases().await {
        let mut gate = Gate::on(database).await;
        let code = gate.code().unwrap();
        guess(&gate, 9).await;
        gate.restart().await;
        assert_eq!(gate.code(), Some(code.clone()));
        guess(&gate, 1).await;
        assert_ne!(gate.code(), Some(code), "and so do the tries against it");
    }
}

#[tokio::test]
async fn the_first_password_by_change_completes_setup_with_the_same_rules() {
    for database in databases().await {
        let gate = Gate::on(database).await;
        gate.auth.offline_reset().await.unwrap();
        let change = |code: Option<String>| PasswordChangeRequest {
            current_password: None,
            new_password: SecretString::from(PASSWORD),
            setup_code: code.map(SecretString::from),
        };
        let away = gate.context(AWAY, "").await;
        let refused = gate
            .auth
            .change_password(&caller(&away), change(None))
            .await;
        assert_eq!(
            code_of(refused),
            Some(ErrorCode::Forbidden),
            "row 1 lets in, the code still counts"
        );
        let code = gate.code();
        let done = gate
            .auth
            .change_password(&caller(&away), change(code))
            .await
            .unwrap();
        assert!(gate.is_let_in(AWAY, &cookie_of(&done.cookies)).await);
        assert!(!gate.is_let_in(AWAY, "").await);
        assert!(
            !gate.auth.is_live(away.identity().unwrap()),
            "row 1 is over"
        );
    }
}
