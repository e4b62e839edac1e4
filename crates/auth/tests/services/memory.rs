//! Memory and database agree after every change, even if the caller disconnects, on every node.

use crate::support::{AWAY, Gate, HERE, PASSWORD, caller, context};
use gatehouse_domain::Scope;
use gatehouse_store::testing::{databases, postgres, run_sql, sqlite};
use std::future::Future;
use std::task::{Context, Waker};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

#[tokio::test]
async fn a_revocation_takes_effect_although_its_caller_hung_up() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        let key = gate.key(&cookie, &[Scope::Read]).await;
        let owner = gate.context(HERE, &cookie).await;
        let mut changed = gate.auth.changed();
        changed.borrow_and_update();
        {
            let owner = caller(&owner);
            let mut revoking = Box::pin(gate.auth.delete_api_key(&owner, &key.id, false));
            let polled = revoking
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
        }
        changed.changed().await.unwrap();
        assert!(!gate.is_let_in(AWAY, &key.key).await);
    }
}

#[tokio::test]
async fn once_loaded_a_credential_costs_no_read_known_or_not() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    let key = gate.key(&cookie, &[Scope::Read]).await.key;
    gate.auth.load_credentials().await.unwrap();
    // The tables are missing, so every read would fail.
    for table in ["auth_sessions", "auth_api_keys"] {
        run_sql(
            &gate.database.location,
            &format!("ALTER TABLE {table} RENAME TO gone_{table}"),
        )
        .await;
    }
    for credential in [&cookie, &key] {
        assert!(gate.is_let_in(AWAY, credential).await);
    }
    let unknown = format!("mk_{}", "A".repeat(43));
    for credential in [unknown.as_str(), &unknown[3..]] {
        assert!(!gate.is_let_in(AWAY, credential).await);
    }
}

#[tokio::test]
async fn a_store_that_fails_is_an_error_and_never_a_yes() {
    let (mut gate, cookie) = Gate::with_owner(sqlite()).await;
    gate.restart().await;
    run_sql(
        &gate.database.location,
        "ALTER TABLE auth_sessions RENAME TO gone",
    )
    .await;
    let mut headers = http::HeaderMap::new();
    headers.insert(
        "cookie",
        format!("service_session={cookie}").parse().unwrap(),
    );
    let facts = gatehouse_auth::RequestFacts {
        method: &http::Method::GET,
        uri: &http::Uri::from_static("/api/x"),
        headers: &headers,
        peer: AWAY.parse().unwrap(),
        over_tls: false,
    };
    let problem: gatehouse_domain::Problem = gate.auth.recognise(&facts).await.unwrap_err().into();
    assert_eq!(problem.code.http_status(), 503);
}

#[tokio::test]
async fn a_throttled_client_costs_no_read() {
    let (mut gate, cookie) = Gate::with_owner(sqlite()).await;
    gate.restart().await;
    let probe = gate.context(AWAY, "").await;
    while gate
        .auth
        .throttle()
        .admit(probe.class.unwrap(), &probe.client)
        .is_ok()
    {}
    run_sql(
        &gate.database.location,
        "ALTER TABLE auth_sessions RENAME TO gone",
    )
    .await;
    assert!(
        !gate.is_let_in(AWAY, &cookie).await,
        "a read would have been an error"
    );
}

#[tokio::test]
async fn last_uses_are_written_at_shutdown() {
    for database in databases().await {
        let (mut gate, cookie) = Gate::with_owner(database).await;
        let key = gate.key(&cookie, &[Scope::Read]).await.key;
        let (shutdown, tracker) = (CancellationToken::new(), TaskTracker::new());
        gate.auth.background(shutdown.clone(), &tracker);
        gate.advance(7);
        assert!(gate.is_let_in(AWAY, &key).await && gate.is_let_in(AWAY, &cookie).await);
        shutdown.cancel();
        tracker.close();
        tracker.wait().await;
        gate.restart().await;
        let context = gate.context(HERE, &cookie).await;
        let keys = gate.auth.list_api_keys(&caller(&context)).await.unwrap();
        let used = keys.api_keys[0].last_used_at.unwrap();
        assert_eq!(
            used.as_millis() - keys.api_keys[0].created_at.as_millis(),
            7_000
        );
    }
}

#[tokio::test]
async fn another_node_sees_what_was_ended_here() {
    let Some(database) = postgres().await else {
        return;
    };
    let (gate, cookie) = Gate::with_owner(database).await;
    let key = gate.key(&cookie, &[Scope::Read]).await;
    let other = gate.second_node().await;
    let (on_key, on_cookie) = (
        context(&other, AWAY, &key.key).await,
        context(&other, HERE, &cookie).await,
    );
    assert!(on_key.identity().is_ok() && on_cookie.identity().is_ok());
    let owner = gate.context(HERE, &cookie).await;
    gate.auth
        .delete_api_key(&caller(&owner), &key.id, false)
        .await
        .unwrap();
    other.look_at_feed().await.unwrap();
    assert!(!other.is_live(on_key.identity().unwrap()));
    assert!(other.is_live(on_cookie.identity().unwrap()));
    gate.auth.reset(&caller(&owner)).await.unwrap();
    other.look_at_feed().await.unwrap();
    assert!(!other.is_live(on_cookie.identity().unwrap()));
    assert!(other.facts().auth_disabled);
    assert_eq!(*other.setup_code().borrow(), gate.code());
}

#[tokio::test]
async fn after_a_takeover_by_a_replica_a_node_forgets_what_the_replica_does_not_have() {
    let Some(database) = postgres().await else {
        return;
    };
    let location = database.location.clone();
    let (gate, cookie) = Gate::with_owner(database).await;
    let key = gate.key(&cookie, &[Scope::Read]).await;
    let other = gate.second_node().await;
    let on_key = context(&other, AWAY, &key.key).await;
    other.look_at_feed().await.unwrap();
    assert!(other.is_live(on_key.identity().unwrap()));
    // The replica does not have the key. Its newest change has the same number, but its run is different.
    run_sql(
        &location,
        "DELETE FROM auth_api_keys; UPDATE _server_run SET id = 'replica'",
    )
    .await;
    other.look_at_feed().await.unwrap();
    assert!(!other.is_live(on_key.identity().unwrap()));
}

#[tokio::test]
async fn a_node_that_is_cut_off_asks_before_it_lets_in_without_a_credential() {
    let Some(database) = postgres().await else {
        return;
    };
    let gate = Gate::on(database).await;
    let other = gate.second_node().await;
    gate.setup(HERE, PASSWORD, None).await.unwrap();
    assert!(context(&other, HERE, "").await.identity().is_ok());
    gate.advance(3);
    assert!(context(&other, HERE, "").await.identity().is_err());
}

/// Simulates an anonymous request for a page, with an unknown session cookie.
async fn page_visit(auth: &gatehouse_auth::Auth, peer: &str, value: &str) -> bool {
    let mut headers = http::HeaderMap::new();
    headers.insert("host", http::HeaderValue::from_static("gate.example"));
    let cookie = format!("service_session={value}");
    headers.insert("cookie", http::HeaderValue::from_str(&cookie).unwrap());
    let facts = gatehouse_auth::RequestFacts {
        method: &http::Method::GET,
        uri: &http::Uri::from_static("/settings"),
        headers: &headers,
        peer: peer.parse().unwrap(),
        over_tls: false,
    };
    auth.recognise(&facts).await.is_ok()
}

#[tokio::test]
async fn requests_for_pages_cost_a_bounded_number_of_reads() {
    let (mut gate, cookie) = Gate::with_owner(sqlite()).await;
    gate.restart().await;
    for number in 0..1000 {
        assert!(page_visit(&gate.auth, AWAY, &format!("{number:A>43}")).await);
    }
    let sql = "ALTER TABLE auth_sessions RENAME TO gone";
    run_sql(&gate.database.location, sql).await;
    assert!(
        page_visit(&gate.auth, AWAY, &cookie).await,
        "a read would have been an error"
    );
    assert!(
        !page_visit(&gate.auth, HERE, &cookie).await,
        "another client may still look"
    );
}

#[tokio::test]
async fn a_page_without_a_credential_costs_no_read() {
    let (mut gate, _) = Gate::with_owner(sqlite()).await;
    gate.restart().await;
    for table in [
        "auth_sessions",
        "auth_api_keys",
        "settings",
        "auth_passkeys",
    ] {
        let sql = format!("ALTER TABLE {table} RENAME TO gone_{table}");
        run_sql(&gate.database.location, &sql).await;
    }
    assert!(gate.context(AWAY, "").await.identity().is_err());
}
