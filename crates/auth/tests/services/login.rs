//! Sessions: login, logout, confirmation, password change, revocation, expiry.

use crate::support::{AWAY, Gate, HERE, PASSWORD, caller, code_of};
use gatehouse_auth::api::{ConfirmRequest, EndSessionRequest, PasswordChangeRequest};
use gatehouse_auth::{AuthSettings, RequestContext};
use gatehouse_domain::{AuthSessionId, ErrorCode, Scope};
use gatehouse_store::testing::{databases, sqlite};
use secrecy::SecretString;

const ALONE: EndSessionRequest = EndSessionRequest {
    keep_children: false,
};
const OTHER: &str = "an even better password";

fn change(current: Option<&str>, new: &str) -> PasswordChangeRequest {
    PasswordChangeRequest {
        current_password: current.map(SecretString::from),
        new_password: SecretString::from(new),
        setup_code: None,
    }
}

fn confirm(password: &str) -> ConfirmRequest {
    ConfirmRequest {
        password: Some(SecretString::from(password)),
        challenge_id: None,
        credential: None,
    }
}

#[tokio::test]
async fn login_and_logout() {
    for database in databases().await {
        let (gate, owner) = Gate::with_owner(database).await;
        let wrong = gate.login(AWAY, "", "wrong").await;
        assert_eq!(code_of(wrong), Some(ErrorCode::InvalidCredentials));
        let cookie = gate.login(AWAY, "", PASSWORD).await.unwrap();
        assert_eq!(cookie.len(), 43);
        let context = gate.context(AWAY, &cookie).await;
        assert!(gate.auth.is_live(context.identity().unwrap()));
        let outcome = gate.auth.logout(&caller(&context)).await.unwrap();
        assert_eq!(outcome.cookies.len(), 2);
        assert!(!gate.auth.is_live(context.identity().unwrap()));
        assert!(!gate.is_let_in(AWAY, &cookie).await);
        assert!(gate.is_let_in(AWAY, &owner).await);
        let gone = gate.context(AWAY, &cookie).await;
        assert_eq!(
            code_of(gate.auth.logout(&caller(&gone)).await),
            Some(ErrorCode::NotAuthenticated)
        );
    }
}

#[tokio::test]
async fn a_session_ends_after_thirty_days_to_the_millisecond() {
    for database in databases().await {
        let (mut gate, cookie) = Gate::with_owner(database).await;
        let context = gate.context(HERE, &cookie).await;
        gate.clock
            .advance(std::time::Duration::from_millis(30 * 86_400_000 - 1));
        assert!(gate.is_let_in(HERE, &cookie).await);
        gate.clock.advance(std::time::Duration::from_millis(1));
        assert!(!gate.is_let_in(HERE, &cookie).await);
        assert!(!gate.auth.is_live(context.identity().unwrap()));
        gate.restart().await;
        assert!(!gate.is_let_in(HERE, &cookie).await);
    }
}

#[tokio::test]
async fn a_session_survives_a_restart_before_and_after_loading() {
    for database in databases().await {
        let (mut gate, cookie) = Gate::with_owner(database).await;
        gate.restart().await;
        assert!(
            gate.is_let_in(HERE, &cookie).await,
            "read from the database"
        );
        gate.restart().await;
        gate.auth.load_credentials().await.unwrap();
        assert!(gate.is_let_in(HERE, &cookie).await, "loaded");
    }
}

#[tokio::test]
async fn a_password_change_ends_other_sessions_and_keeps_keys() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let other = gate.login(AWAY, "", PASSWORD).await.unwrap();
        let key = gate.key(&cookie, &[Scope::Read]).await.key;
        let context = gate.context(HERE, &cookie).await;
        let ended = gate.context(AWAY, &other).await;
        let missing = gate
            .auth
            .change_password(&caller(&context), change(None, OTHER))
            .await;
        assert_eq!(code_of(missing), Some(ErrorCode::InvalidParams));
        let wrong = gate
            .auth
            .change_password(&caller(&context), change(Some("no"), OTHER))
            .await;
        assert_eq!(code_of(wrong), Some(ErrorCode::InvalidCredentials));
        let short = gate
            .auth
            .change_password(&caller(&context), change(Some(PASSWORD), "x"))
            .await;
        assert_eq!(code_of(short), Some(ErrorCode::InvalidParams));
        let mut changed = gate.auth.changed();
        changed.borrow_and_update();
        gate.auth
            .change_password(&caller(&context), change(Some(PASSWORD), OTHER))
            .await
            .unwrap();
        assert!(changed.has_changed().unwrap(), "sockets are notified");
        assert!(!gate.auth.is_live(ended.identity().unwrap()));
        assert!(!gate.is_let_in(AWAY, &other).await);
        assert!(gate.is_let_in(HERE, &cookie).await && gate.is_let_in(AWAY, &key).await);
        let old = gate.login(AWAY, "", PASSWORD).await;
        assert_eq!(code_of(old), Some(ErrorCode::InvalidCredentials));
        assert!(gate.login(AWAY, "", OTHER).await.is_ok());
    }
}

#[tokio::test]
async fn of_two_racing_changes_one_wins_and_its_password_counts() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    let context = gate.context(HERE, &cookie).await;
    let caller = caller(&context);
    let third = "a third fine password";
    let (a, b) = tokio::join!(
        gate.auth
            .change_password(&caller, change(Some(PASSWORD), OTHER)),
        gate.auth
            .change_password(&caller, change(Some(PASSWORD), third)),
    );
    let (a, b) = (code_of(a), code_of(b));
    let refused = [
        Some(ErrorCode::Conflict),
        Some(ErrorCode::InvalidCredentials),
    ];
    let winner = if a.is_none() { OTHER } else { third };
    assert!((a.is_none() && refused.contains(&b)) || (b.is_none() && refused.contains(&a)));
    assert!(gate.login(AWAY, "", winner).await.is_ok());
}

#[tokio::test]
async fn sessions_are_listed_and_ended() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        gate.advance(1);
        let (b, c) = (
            gate.login(AWAY, "", PASSWORD).await.unwrap(),
            gate.login(AWAY, "", PASSWORD).await.unwrap(),
        );
        gate.advance(5);
        let context = gate.context(HERE, &cookie).await;
        let list = gate.auth.list_sessions(&caller(&context)).await.unwrap();
        assert_eq!(list.sessions.len(), 3);
        let own = list.sessions.iter().find(|item| item.current).unwrap();
        assert_eq!(
            own.last_seen_at.as_millis() - own.created_at.as_millis(),
            6_000,
            "from memory"
        );
        let victim = gate.context(AWAY, &b).await;
        let id = list
            .sessions
            .iter()
            .find(|item| !item.current)
            .unwrap()
            .id
            .clone();
        gate.auth
            .end_session(&caller(&context), &id, &ALONE)
            .await
            .unwrap();
        let alive = [
            gate.is_let_in(AWAY, &b).await,
            gate.is_let_in(AWAY, &c).await,
        ];
        assert_eq!(alive.iter().filter(|alive| **alive).count(), 1);
        assert_eq!(gate.auth.is_live(victim.identity().unwrap()), alive[0]);
        let again = gate.auth.end_session(&caller(&context), &id, &ALONE).await;
        assert_eq!(code_of(again), Some(ErrorCode::NotFound));
        let none = gate
            .auth
            .end_session(&caller(&context), &AuthSessionId::from_text("x"), &ALONE)
            .await;
        assert_eq!(code_of(none), Some(ErrorCode::NotFound));
        assert_eq!(
            gate.auth
                .end_other_sessions(&caller(&context), &ALONE)
                .await
                .unwrap()
                .ended,
            1
        );
        assert!(!gate.is_let_in(AWAY, &b).await && !gate.is_let_in(AWAY, &c).await);
        assert!(gate.is_let_in(HERE, &cookie).await);
    }
}

async fn refused_step_up(gate: &Gate, context: &RequestContext) -> Option<ErrorCode> {
    let identity = context.identity().unwrap();
    code_of(gate.auth.require_step_up(identity).await)
}

#[tokio::test]
async fn a_confirmation_counts_fifteen_minutes() {
    for database in databases().await {
        let (mut gate, cookie) = Gate::with_owner(database).await;
        let context = gate.context(HERE, &cookie).await;
        gate.advance(900);
        assert_eq!(refused_step_up(&gate, &context).await, None);
        gate.advance(1);
        assert_eq!(
            refused_step_up(&gate, &context).await,
            Some(ErrorCode::ConfirmationRequired)
        );
        let reset = gate.auth.reset(&caller(&context)).await;
        assert_eq!(code_of(reset), Some(ErrorCode::ConfirmationRequired));
        let wrong = gate.auth.confirm(&caller(&context), confirm("wrong")).await;
        assert_eq!(code_of(wrong), Some(ErrorCode::InvalidCredentials));
        assert_eq!(
            refused_step_up(&gate, &context).await,
            Some(ErrorCode::ConfirmationRequired)
        );
        gate.auth
            .confirm(&caller(&context), confirm(PASSWORD))
            .await
            .unwrap();
        assert_eq!(refused_step_up(&gate, &context).await, None);
        gate.restart().await;
        let context = gate.context(HERE, &cookie).await;
        assert_eq!(
            refused_step_up(&gate, &context).await,
            None,
            "it is in the database"
        );
        gate.advance(901);
        gate.auth.update_settings(AuthSettings {
            step_up: false,
            ..AuthSettings::default()
        });
        assert_eq!(refused_step_up(&gate, &context).await, None, "switched off");
    }
}

#[tokio::test]
async fn thirty_wrong_passwords_of_one_session_and_then_it_waits() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    let context = gate.context(HERE, &cookie).await;
    for round in 0..30 {
        // All endpoints that check a password count together.
        let outcome = if round % 2 == 0 {
            code_of(gate.auth.confirm(&caller(&context), confirm("wrong")).await)
        } else {
            code_of(gate.login(HERE, &cookie, "wrong").await)
        };
        assert_eq!(outcome, Some(ErrorCode::InvalidCredentials), "{round}");
    }
    let waits = gate
        .auth
        .confirm(&caller(&context), confirm(PASSWORD))
        .await;
    assert_eq!(
        code_of(waits),
        Some(ErrorCode::RateLimited),
        "even the right one"
    );
    let waits = gate.login(HERE, &cookie, PASSWORD).await;
    assert_eq!(code_of(waits), Some(ErrorCode::RateLimited));
    assert!(
        gate.login(HERE, "", PASSWORD).await.is_ok(),
        "nobody else does"
    );
    gate.advance(600);
    assert!(gate.login(HERE, &cookie, PASSWORD).await.is_ok());
}

#[tokio::test]
async fn no_more_wrong_passwords_are_evaluated_than_allowed_however_parallel() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    for _ in 0..29 {
        let context = gate.context(HERE, &cookie).await;
        // The password is too long to be hashed, so the check costs nothing. It still counts.
        let wrong = gate
            .auth
            .confirm(&caller(&context), confirm(&"x".repeat(5000)))
            .await;
        assert_eq!(code_of(wrong), Some(ErrorCode::InvalidCredentials));
    }
    // The requests come from many addresses, so that the queue limit per client does not interfere.
    let mut visits = Vec::new();
    for number in 0..34 {
        visits.push(gate.context(&format!("198.51.100.{number}"), &cookie).await);
    }
    let tries = visits.iter().map(|context| async {
        let tried = gate
            .auth
            .confirm(&caller(context), confirm("a wrong one, hashed"))
            .await;
        code_of(tried) == Some(ErrorCode::InvalidCredentials)
    });
    let evaluated = futures_util::future::join_all(tries).await;
    let evaluated = evaluated.into_iter().filter(|evaluated| *evaluated).count();
    assert_eq!(evaluated, 1, "29 before, 30 in all");
    gate.advance(601);
    let context = gate.context(HERE, &cookie).await;
    let right = gate
        .auth
        .confirm(&caller(&context), confirm(PASSWORD))
        .await;
    assert!(right.is_ok());
}

#[tokio::test]
async fn right_passwords_give_their_place_back() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    let context = gate.context(HERE, &cookie).await;
    for _ in 0..29 {
        let wrong = gate
            .auth
            .confirm(&caller(&context), confirm(&"x".repeat(5000)))
            .await;
        assert_eq!(code_of(wrong), Some(ErrorCode::InvalidCredentials));
    }
    for _ in 0..3 {
        let right = gate
            .auth
            .confirm(&caller(&context), confirm(PASSWORD))
            .await;
        assert!(right.is_ok(), "a right one uses nothing up");
    }
}
