//! The audit log: chain, combined failures, pages.

use crate::support::{AWAY, Gate, HERE, PASSWORD, code_of};
use gatehouse_auth::api::AuditFilter;
use gatehouse_auth::audit::{Concluded, VerifyError, verify};
use gatehouse_domain::{Clock, ErrorCode, Scope};
use gatehouse_store::testing::{databases, run_sql, sqlite};
use serde_json::{Map, Value, json};

fn of_kind(kind: &str) -> AuditFilter {
    AuditFilter {
        kind: Some(kind.to_owned()),
        ..AuditFilter::default()
    }
}

async fn kinds(gate: &Gate) -> Vec<String> {
    let list = gate
        .auth
        .audit_list(Some(500), None, AuditFilter::default())
        .await
        .unwrap();
    list.events
        .into_iter()
        .rev()
        .map(|event| event.kind)
        .collect()
}

#[tokio::test]
async fn tampering_breaks_the_chain_where_it_was_done() {
    for database in databases().await {
        let (gate, cookie) = Gate::with_owner(database).await;
        for scope in [Scope::Read, Scope::Write, Scope::Pairing] {
            gate.key(&cookie, &[scope]).await;
        }
        let verified = verify(&gate.store).await.unwrap();
        assert_eq!(verified.rows, 4);
        assert_eq!(verified.head.len(), 64);
        for (sql, undo, seq) in [
            (
                "UPDATE audit_log SET actor = 'x' WHERE seq = 2",
                "UPDATE audit_log SET actor = 'session y' WHERE seq = 2",
                2,
            ),
            ("UPDATE audit_log SET prev_hash = 'x' WHERE seq = 1", "", 1),
        ] {
            run_sql(&gate.database.location, sql).await;
            let broken = verify(&gate.store).await.unwrap_err();
            assert!(
                matches!(broken, VerifyError::Broken { seq: s } if s == seq),
                "{broken:?}"
            );
            if !undo.is_empty() {
                run_sql(&gate.database.location, undo).await;
            }
        }
    }
}

#[tokio::test]
async fn a_removed_row_breaks_the_chain() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    gate.key(&cookie, &[Scope::Read]).await;
    gate.key(&cookie, &[Scope::Read]).await;
    run_sql(
        &gate.database.location,
        "DELETE FROM audit_log WHERE seq = 2",
    )
    .await;
    assert!(matches!(
        verify(&gate.store).await,
        Err(VerifyError::Broken { seq: 2 })
    ));
}

#[tokio::test]
async fn failures_are_one_row_at_once_and_one_for_the_rest_of_the_minute() {
    for database in databases().await {
        let (gate, _) = Gate::with_owner(database).await;
        for _ in 0..4 {
            assert!(gate.login(AWAY, "", "x").await.is_err());
        }
        assert_eq!(kinds(&gate).await, ["setup.completed", "login.failed"]);
        gate.advance(60);
        assert!(gate.login(AWAY, "", "x").await.is_err());
        let list = gate
            .auth
            .audit_list(None, None, of_kind("login.failed"))
            .await
            .unwrap();
        assert_eq!(list.events.len(), 3);
        assert_eq!(list.events[1].detail["collapsed"], 3);
        assert_eq!(list.events[0].client_ip.as_deref(), Some(AWAY));
        assert_eq!(list.events[0].actor, "anonymous");
        assert!(gate.login(HERE, "", "x").await.is_err());
        let list = gate
            .auth
            .audit_list(None, None, of_kind("login.failed"))
            .await
            .unwrap();
        assert_eq!(list.events.len(), 4, "another client has a row of its own");
        assert!(verify(&gate.store).await.is_ok());
    }
}

#[tokio::test]
async fn no_secret_is_in_a_row() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    let key = gate.key(&cookie, &[Scope::Read]).await.key;
    let list = gate
        .auth
        .audit_list(None, None, AuditFilter::default())
        .await
        .unwrap();
    let text = serde_json::to_string(&list).unwrap();
    for secret in [PASSWORD, &cookie, &key] {
        assert!(!text.contains(secret));
    }
}

#[tokio::test]
async fn pages_join_without_gap_and_limits_hold() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    for _ in 0..4 {
        gate.key(&cookie, &[Scope::Read]).await;
    }
    let (mut cursor, mut seen) = (None, Vec::new());
    loop {
        let page = gate
            .auth
            .audit_list(Some(2), cursor.as_deref(), AuditFilter::default())
            .await
            .unwrap();
        seen.extend(page.events.into_iter().map(|event| event.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 5);
    for limit in [0, 501] {
        let refused = gate
            .auth
            .audit_list(Some(limit), None, AuditFilter::default())
            .await;
        assert_eq!(code_of(refused), Some(ErrorCode::InvalidParams));
    }
    for cursor in ["", "x", "-1"] {
        let refused = gate
            .auth
            .audit_list(None, Some(cursor), AuditFilter::default())
            .await;
        assert_eq!(code_of(refused), Some(ErrorCode::InvalidParams), "{cursor}");
    }
}

async fn failures_from(gate: &Gate, clients: std::ops::Range<u32>) {
    for number in clients {
        let peer = std::net::Ipv4Addr::from_bits(0xc633_6400 + number).to_string();
        assert!(gate.login(&peer, "", "").await.is_err());
    }
}

async fn failed_logins(gate: &Gate) -> Vec<gatehouse_auth::api::AuditEvent> {
    let kind = Some("login.failed".to_owned());
    let list = gate
        .auth
        .audit_list(
            Some(500),
            None,
            AuditFilter {
                kind,
                ..AuditFilter::default()
            },
        )
        .await
        .unwrap();
    list.events
}

#[tokio::test]
async fn strangers_leave_a_hundred_rows_a_minute_and_kind_and_one_for_the_rest() {
    for database in databases().await {
        let (gate, _) = Gate::with_owner(database).await;
        failures_from(&gate, 0..100).await;
        assert_eq!(failed_logins(&gate).await.len(), 100, "at the limit");
        failures_from(&gate, 100..101).await;
        assert_eq!(failed_logins(&gate).await.len(), 100, "one past it");
        failures_from(&gate, 101..150).await;
        failures_from(&gate, 0..20).await;
        gate.advance(60);
        failures_from(&gate, 0..1).await;
        let rows = failed_logins(&gate).await;
        assert_eq!(rows.len(), 102, "the rest of the minute is one row");
        let rest: Vec<_> = rows
            .iter()
            .filter(|row| row.actor == "many clients")
            .collect();
        assert_eq!(rest.len(), 1);
        assert_eq!(rest[0].detail["collapsed"], 70);
        assert!(verify(&gate.store).await.is_ok());
    }
}

const DAY: u64 = 86_400;

/// Appends one row per day, starting on the day of setup.
async fn days(gate: &Gate, cookie: &str, count: u32) {
    for _ in 0..count {
        gate.advance(DAY);
        let context = gate.context(HERE, cookie).await;
        let auth = &gate.auth;
        auth.note_change("day", context.actor(), serde_json::json!({}))
            .await;
    }
}

#[tokio::test]
async fn rows_older_than_the_retention_are_cut_off_at_an_anchor_that_verifies() {
    for database in databases().await {
        let (mut gate, cookie) = Gate::with_owner(database).await;
        days(&gate, &cookie, 9).await;
        assert_eq!(verify(&gate.store).await.unwrap().rows, 10);
        gate.advance((400 - 9) * DAY);
        assert_eq!(gate.auth.cut_audit_log().await.unwrap(), 0, "at the limit");
        gate.advance(1);
        assert_eq!(gate.auth.cut_audit_log().await.unwrap(), 1, "one past it");
        let verified = verify(&gate.store).await.unwrap();
        assert_eq!((verified.rows, verified.cut, verified.after), (10, 1, 1));
        assert_eq!(
            kinds(&gate).await.last().map(String::as_str),
            Some("audit.cut")
        );
        gate.advance(3 * DAY);
        assert_eq!(gate.auth.cut_audit_log().await.unwrap(), 3);
        // Deletes everything except the row about the deletion, and the chain continues.
        gate.advance(1000 * DAY);
        assert_eq!(gate.auth.cut_audit_log().await.unwrap(), 8);
        let verified = verify(&gate.store).await.unwrap();
        assert_eq!((verified.rows, verified.cut, verified.after), (1, 12, 12));
        gate.restart().await;
        assert!(gate.login(AWAY, "", "x").await.is_err());
        assert_eq!(verify(&gate.store).await.unwrap().rows, 2);
    }
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_cuts_nothing_off() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    days(&gate, &cookie, 3).await;
    assert_eq!(gate.auth.cut_audit_log().await.unwrap(), 0);
    let ahead = gate
        .clock
        .now()
        .after(std::time::Duration::from_hours(24 * 1000));
    gate.clock.set_wall(ahead);
    assert_eq!(gate.auth.cut_audit_log().await.unwrap(), 0);
    gate.advance(DAY);
    assert_eq!(
        gate.auth.cut_audit_log().await.unwrap(),
        4,
        "it stayed so for a day"
    );
}

#[tokio::test]
async fn what_was_cut_off_by_hand_shows() {
    for (number, sql) in [
        "DELETE FROM audit_log WHERE seq <= 6",
        "DELETE FROM audit_anchor",
        "UPDATE audit_anchor SET cut = 1",
        "UPDATE audit_anchor SET seq = 3",
        "UPDATE audit_anchor SET hash = 'x'",
        // The anchor is forged from the values of the next row.
        "UPDATE audit_anchor SET seq = seq + 1, cut = cut + 1,
             hash = (SELECT prev_hash FROM audit_log ORDER BY seq LIMIT 1 OFFSET 1)",
    ]
    .into_iter()
    .enumerate()
    {
        let (gate, cookie) = Gate::with_owner(sqlite()).await;
        days(&gate, &cookie, 9).await;
        gate.advance(396 * DAY);
        assert_eq!(gate.auth.cut_audit_log().await.unwrap(), 5);
        verify(&gate.store).await.unwrap();
        run_sql(&gate.database.location, sql).await;
        if number == 5 {
            let more = "DELETE FROM audit_log WHERE seq = (SELECT MIN(seq) FROM audit_log)";
            run_sql(&gate.database.location, more).await;
        }
        assert!(verify(&gate.store).await.is_err(), "{sql}");
    }
}

#[tokio::test]
async fn a_broken_log_is_not_cut() {
    let (gate, cookie) = Gate::with_owner(sqlite()).await;
    days(&gate, &cookie, 3).await;
    run_sql(
        &gate.database.location,
        "UPDATE audit_log SET actor = 'x' WHERE seq = 2",
    )
    .await;
    gate.advance(1000 * DAY);
    assert_eq!(gate.auth.cut_audit_log().await.unwrap(), 0);
    assert_eq!(kinds(&gate).await.len(), 4, "it stays for inspection");
}

fn detail(id: &str) -> Map<String, Value> {
    let mut detail = Map::new();
    detail.insert("id".to_owned(), json!(id));
    detail
}

/// Returns the details of the newest rows of this kind.
async fn details(gate: &Gate, kind: &str) -> Vec<Value> {
    let list = gate.auth.audit_list(None, None, of_kind(kind)).await;
    let events = list.unwrap().events;
    events.into_iter().map(|event| event.detail).collect()
}

#[tokio::test]
async fn a_row_that_follows_its_change_is_written_whatever_happens_in_between() {
    for database in databases().await {
        let (mut gate, cookie) = Gate::with_owner(database).await;
        let actor = gate.context(HERE, &cookie).await.actor();
        let begun = gate.auth.intend("agent.created", &actor, detail("done"));
        gate.auth.begin_change(&begun).await.unwrap();
        let more = detail("done")
            .into_iter()
            .chain([("made".to_owned(), json!(1))]);
        gate.auth
            .conclude(begun, Concluded::Done(more.collect()))
            .await;
        let failed = gate.auth.intend("agent.created", &actor, detail("failed"));
        gate.auth.begin_change(&failed).await.unwrap();
        gate.auth
            .conclude(failed, Concluded::Failed("TIMEOUT"))
            .await;
        let never = gate.auth.intend("agent.created", &actor, detail("never"));
        gate.auth
            .conclude(never, Concluded::Failed("TIMEOUT"))
            .await;
        let withdrawn = gate
            .auth
            .intend("agent.created", &actor, detail("withdrawn"));
        gate.auth.begin_change(&withdrawn).await.unwrap();
        gate.auth.conclude(withdrawn, Concluded::Withdrawn).await;
        let lost = gate.auth.intend("agent.created", &actor, detail("lost"));
        gate.auth.begin_change(&lost).await.unwrap();
        let began_at = json!(lost.row().at);
        gate.advance(60);
        gate.restart().await;
        let now = gate.clock.now();
        assert_eq!(gate.auth.conclude_left_changes(now).await.unwrap(), 1);
        assert_eq!(gate.auth.conclude_left_changes(now).await.unwrap(), 0);
        assert_eq!(
            details(&gate, "agent.created").await,
            [
                json!({ "id": "lost", "unfinished": true, "began_at": began_at }),
                json!({ "id": "failed", "error": "TIMEOUT" }),
                json!({ "id": "done", "made": 1 }),
            ]
        );
        let events = gate
            .auth
            .audit_list(None, None, of_kind("agent.created"))
            .await;
        assert!(
            events
                .unwrap()
                .events
                .iter()
                .all(|event| event.actor == actor.name)
        );
        assert!(verify(&gate.store).await.is_ok());
    }
}
