//! Lists of sessions and messages.

use crate::harness::{Harness, harnesses, problem_of, webhook};
use gatehouse_agents::{HistoryRange, SessionChanges, SessionQuery};
use gatehouse_domain::{Actor, Clock, Timestamp};
use std::time::Duration;

fn asked(q: Option<&str>, limit: usize, cursor: Option<&str>) -> SessionQuery {
    SessionQuery {
        q: q.map(str::to_owned),
        limit,
        cursor: cursor.map(str::to_owned),
        ..SessionQuery::default()
    }
}

async fn labels(harness: &Harness, q: Option<&str>) -> Vec<String> {
    let page = harness
        .agents
        .list_sessions(&asked(q, 500, None))
        .await
        .unwrap();
    page.sessions
        .into_iter()
        .map(|session| session.label)
        .collect()
}

#[tokio::test]
async fn sessions_are_listed_the_newest_first_in_pages() {
    for harness in harnesses().await {
        for n in 0..5 {
            harness.say(None, &format!("session {n}")).await;
            // Two of the sessions share a timestamp.
            if n != 2 {
                harness.clock.advance(Duration::from_secs(1));
            }
        }
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let page = harness
                .agents
                .list_sessions(&asked(None, 2, cursor.as_deref()))
                .await
                .unwrap();
            seen.extend(page.sessions.into_iter().map(|session| session.label));
            // Sessions that become active during paging move to the front and leave no gap.
            harness.say(None, "new").await;
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        seen.sort();
        assert_eq!(
            seen,
            [
                "session 0",
                "session 1",
                "session 2",
                "session 3",
                "session 4"
            ]
        );
        let all = labels(&harness, None).await;
        assert_eq!(all.last().unwrap(), "session 0");
        assert_eq!(all.len(), 8);
        // A new message moves an old session to the front.
        harness.clock.advance(Duration::from_secs(1));
        let old = harness
            .agents
            .list_sessions(&asked(Some("session 0"), 1, None))
            .await
            .unwrap();
        harness.say(Some(old.sessions[0].id.as_str()), "more").await;
        assert_eq!(labels(&harness, None).await[0], "session 0");
        for bad in ["", "x", "1", "1.a\0", "a.b"] {
            let refused = harness
                .agents
                .list_sessions(&asked(None, 1, Some(bad)))
                .await
                .unwrap_err();
            assert_eq!(
                problem_of(refused),
                ("INVALID_PARAMS", "cursor".to_owned()),
                "{bad:?}"
            );
        }
    }
}

#[tokio::test]
async fn sessions_are_found_by_label_key_and_id() {
    for harness in harnesses().await {
        let tea = harness.say(None, "About Tea 100%").await;
        harness.say(None, "Über_Kaffee").await;
        harness
            .agents
            .send_sync(webhook("webhook:wh_1:DEL_2", "x", None))
            .await
            .unwrap();
        for (q, expected) in [
            ("tea", &["About Tea 100%"][..]),
            ("TEA", &["About Tea 100%"][..]),
            ("0%", &["About Tea 100%"][..]),
            ("Über", &["Über_Kaffee"][..]),
            ("über", &["Über_Kaffee"][..]),
            ("ÜBER", &["Über_Kaffee"][..]),
            ("r_k", &["Über_Kaffee"][..]),
            ("t_a", &[][..]),
            ("wh_1:del", &["webhook:wh_1:DEL_2"][..]),
            ("'; --", &[][..]),
            ("\\", &[][..]),
            ("\0", &[][..]),
        ] {
            assert_eq!(labels(&harness, Some(q)).await, expected, "{q:?}");
        }
        assert_eq!(
            labels(&harness, Some(tea.session.as_str())).await,
            ["About Tea 100%"]
        );
        assert_eq!(labels(&harness, Some("  ")).await.len(), 3);
    }
}

#[tokio::test]
async fn a_session_is_renamed_and_deleted_by_id_or_key() {
    for harness in harnesses().await {
        let report = harness
            .agents
            .send_sync(webhook("webhook:a", "x", None))
            .await
            .unwrap();
        let before = harness.agents.get_session("webhook:a").await.unwrap();
        harness.clock.advance(Duration::from_secs(1));
        let renamed = harness
            .agents
            .rename_session("webhook:a", " Mine ")
            .await
            .unwrap();
        assert_eq!(renamed.label, "Mine");
        let record = harness
            .agents
            .get_session(report.session.as_str())
            .await
            .unwrap();
        assert_eq!(
            (record.label.as_str(), record.updated_at),
            ("Mine", before.updated_at)
        );
        assert!(harness.clock.now() > record.updated_at);
        for (label, good) in [
            ("x".repeat(200), true),
            ("x".repeat(201), false),
            (" ".into(), false),
        ] {
            let renamed = harness.agents.rename_session("webhook:a", &label).await;
            assert_eq!(renamed.is_ok(), good);
        }
        harness
            .agents
            .delete_session(report.session.as_str())
            .await
            .unwrap();
        for name in ["webhook:a", report.session.as_str(), "\0"] {
            let agents = &harness.agents;
            assert_eq!(
                problem_of(agents.get_session(name).await.unwrap_err()).0,
                "NOT_FOUND"
            );
            assert_eq!(
                problem_of(agents.rename_session(name, "x").await.unwrap_err()).0,
                "NOT_FOUND"
            );
            assert_eq!(
                problem_of(agents.delete_session(name).await.unwrap_err()).0,
                "NOT_FOUND"
            );
        }
    }
}

#[tokio::test]
async fn history_comes_in_pages_and_in_order() {
    for harness in harnesses().await {
        let first = harness.say(None, "0").await;
        let session = first.session.as_str();
        for n in 1..4 {
            harness.say(Some(session), &n.to_string()).await;
        }
        let mut pages = Vec::new();
        let mut before = None;
        loop {
            let page = harness
                .agents
                .history(session, 3, before.as_deref())
                .await
                .unwrap();
            let texts: Vec<_> = page.messages.into_iter().map(|m| m.content).collect();
            pages.push(texts.join(" "));
            match page.next_cursor {
                Some(next) => before = Some(next),
                None => break,
            }
        }
        assert_eq!(pages, ["ok 3 ok", "1 ok 2", "0 ok"]);
        let other = harness.say(None, "other").await;
        let foreign = harness.history(other.session.as_str()).await[0]
            .id
            .to_string();
        for bad in [foreign.as_str(), "msg_none", "\0"] {
            let refused = harness
                .agents
                .history(session, 3, Some(bad))
                .await
                .unwrap_err();
            assert_eq!(problem_of(refused), ("INVALID_PARAMS", "before".to_owned()));
        }
    }
}

#[tokio::test]
async fn shared_sessions_are_listed_apart_also_if_they_are_archived() {
    for harness in harnesses().await {
        let mut ids = Vec::new();
        for name in ["first", "second", "third"] {
            ids.push(harness.say(None, name).await.session.as_str().to_owned());
        }
        let listed = async |shared| {
            let query = SessionQuery {
                shared,
                ..asked(None, 50, None)
            };
            let page = harness.agents.list_sessions(&query).await.unwrap();
            let labels = page.sessions.into_iter().map(|session| session.label);
            let mut labels: Vec<String> = labels.collect();
            labels.sort();
            labels
        };
        assert!(listed(Some(true)).await.is_empty());
        let owner = Actor::cli();
        for id in &ids[..2] {
            harness.agents.share_session(&owner, id).await.unwrap();
        }
        let archive = SessionChanges {
            archived: Some(true),
            ..SessionChanges::default()
        };
        harness
            .agents
            .update_session(&ids[1], archive)
            .await
            .unwrap();
        assert_eq!(listed(Some(true)).await, ["first", "second"]);
        assert_eq!(listed(Some(false)).await, ["third"]);
        assert_eq!(listed(None).await.len(), 3);
        harness
            .agents
            .unshare_session(&owner, &ids[1])
            .await
            .unwrap();
        assert_eq!(listed(Some(true)).await, ["first"]);
    }
}

#[tokio::test]
async fn history_after_a_message_has_only_newer_ones() {
    for harness in harnesses().await {
        let first = harness.say(None, "0").await;
        let session = first.session.as_str();
        for n in 1..3 {
            harness.say(Some(session), &n.to_string()).await;
        }
        let all = harness.history(session).await;
        let ids: Vec<_> = all.iter().map(|message| message.id.to_string()).collect();
        let page = async |limit: usize, after: &str, before: Option<&str>| {
            let range = HistoryRange {
                after: Some(after),
                before,
            };
            let page = harness.agents.history_within(session, limit, range).await;
            let page = page.unwrap();
            let texts: Vec<_> = page.messages.into_iter().map(|m| m.content).collect();
            (texts.join(" "), page.next_cursor)
        };
        assert_eq!(page(4, &ids[1], None).await, ("1 ok 2 ok".to_owned(), None));
        let (newest, cursor) = page(3, &ids[1], None).await;
        assert_eq!(newest, "ok 2 ok");
        let rest = page(3, &ids[1], cursor.as_deref()).await;
        assert_eq!(rest, ("1".to_owned(), None));
        assert_eq!(page(3, &ids[5], None).await, (String::new(), None));
        let unknown = HistoryRange {
            after: Some("msg_none"),
            before: None,
        };
        let refused = harness.agents.history_within(session, 3, unknown).await;
        let refused = problem_of(refused.unwrap_err());
        assert_eq!(refused, ("INVALID_PARAMS", "after".to_owned()));
    }
}

#[tokio::test]
async fn pinned_and_archived_sessions_are_listed_apart() {
    for harness in harnesses().await {
        let mut ids = Vec::new();
        for name in ["first", "second", "third"] {
            ids.push(harness.say(None, name).await.session.as_str().to_owned());
        }
        let place = |at: usize, pinned, archived| {
            let changes = SessionChanges {
                pinned,
                archived,
                tags: None,
            };
            harness.agents.update_session(&ids[at], changes)
        };
        assert!(place(0, Some(true), None).await.unwrap().pinned);
        assert!(place(1, None, Some(true)).await.unwrap().archived);
        let listed = async |pinned, archived| {
            let query = SessionQuery {
                pinned,
                archived,
                ..asked(None, 50, None)
            };
            let page = harness.agents.list_sessions(&query).await.unwrap();
            let labels = page.sessions.into_iter().map(|session| session.label);
            let mut labels: Vec<String> = labels.collect();
            labels.sort();
            labels
        };
        assert_eq!(listed(None, None).await.len(), 3);
        assert_eq!(listed(Some(true), None).await, ["first"]);
        assert_eq!(listed(None, Some(true)).await, ["second"]);
        assert_eq!(listed(Some(false), Some(false)).await, ["third"]);
        // A change of one flag keeps the other flag.
        let session = place(0, None, Some(true)).await.unwrap();
        assert!(session.pinned && session.archived);
        let refused = harness
            .agents
            .update_session("ses_none", SessionChanges::default());
        assert_eq!(problem_of(refused.await.unwrap_err()).0, "NOT_FOUND");
    }
}

#[tokio::test]
async fn sessions_are_found_by_their_tags() {
    for harness in harnesses().await {
        let mut ids = Vec::new();
        for name in ["first", "second", "third"] {
            ids.push(harness.say(None, name).await.session.as_str().to_owned());
        }
        let tag = async |at: usize, tags: &[&str]| {
            let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            let changes = SessionChanges {
                tags: Some(tags),
                ..SessionChanges::default()
            };
            harness.agents.update_session(&ids[at], changes).await
        };
        let first = tag(0, &["Büro", "50%"]).await.unwrap();
        assert_eq!(first.tags, ["Büro", "50%"]);
        tag(1, &["büro"]).await.unwrap();
        tag(2, &["Büro am Markt", "500"]).await.unwrap();
        let listed = async |tag: &str, q: Option<&str>| {
            let query = SessionQuery {
                tag: Some(tag.to_owned()),
                ..asked(q, 50, None)
            };
            let page = harness.agents.list_sessions(&query).await.unwrap();
            let labels = page.sessions.into_iter().map(|session| session.label);
            let mut labels: Vec<String> = labels.collect();
            labels.sort();
            labels
        };
        assert_eq!(listed("BÜRO", None).await, ["first", "second"]);
        assert_eq!(listed("BÜRO", Some("sec")).await, ["second"]);
        assert_eq!(listed("50%", None).await, ["first"]);
        assert!(listed("none\0", None).await.is_empty());
        let counts = harness.agents.list_tags().await.unwrap();
        let counts: Vec<_> = counts
            .iter()
            .map(|c| (c.tag.as_str(), c.sessions))
            .collect();
        let named = [("50%", 1), ("500", 1), ("Büro", 2), ("Büro am Markt", 1)];
        assert!(counts == named || counts[2] == ("büro", 2), "{counts:?}");
        // An update without tags keeps the tags. An empty list removes them.
        let pinned = SessionChanges {
            pinned: Some(true),
            ..SessionChanges::default()
        };
        let kept = harness
            .agents
            .update_session(&ids[0], pinned)
            .await
            .unwrap();
        assert_eq!(kept.tags.len(), 2);
        assert!(tag(0, &[]).await.unwrap().tags.is_empty());
        let eleven: Vec<String> = (0..11).map(|at| at.to_string()).collect();
        let eleven: Vec<&str> = eleven.iter().map(String::as_str).collect();
        assert_eq!(tag(0, &eleven[1..]).await.unwrap().tags.len(), 10);
        let refused = tag(0, &eleven).await.unwrap_err();
        assert_eq!(problem_of(refused).0, "INVALID_PARAMS");
    }
}

#[tokio::test]
async fn sessions_of_a_period_are_those_whose_last_message_is_in_it() {
    for harness in harnesses().await {
        let start = harness.clock.now();
        let mut first = None;
        for name in ["first", "second", "third"] {
            let said = harness.say(None, name).await;
            first.get_or_insert(said.session.as_str().to_owned());
            harness.clock.advance(Duration::from_millis(10));
        }
        let at = |ms: i64| Some(Timestamp::from_millis(start.as_millis() + ms));
        let listed = async |from, until| {
            let query = SessionQuery {
                from,
                until,
                ..asked(None, 50, None)
            };
            let page = harness.agents.list_sessions(&query).await.unwrap();
            let labels = page.sessions.into_iter().map(|session| session.label);
            labels.collect::<Vec<_>>().join(",")
        };
        assert_eq!(listed(None, None).await, "third,second,first");
        assert_eq!(listed(at(10), None).await, "third,second");
        assert_eq!(listed(at(11), None).await, "third");
        assert_eq!(listed(None, at(20)).await, "second,first");
        assert_eq!(listed(at(10), at(20)).await, "second");
        assert_eq!(listed(at(20), at(10)).await, "");
        // A new message moves a session into a later period.
        harness.say(first.as_deref(), "more").await;
        assert_eq!(listed(at(30), None).await, "first");
        assert_eq!(listed(None, at(10)).await, "");
    }
}

#[tokio::test]
async fn sessions_of_webhooks_are_listed_apart_from_those_of_people() {
    for harness in harnesses().await {
        harness.say(None, "typed").await;
        harness
            .agents
            .send_sync(webhook("hook", "a delivery", None))
            .await
            .unwrap();
        for (of_webhooks, count) in [(None, 2), (Some(true), 1), (Some(false), 1)] {
            let query = SessionQuery {
                of_webhooks,
                ..asked(None, 50, None)
            };
            let page = harness.agents.list_sessions(&query).await.unwrap();
            assert_eq!(page.sessions.len(), count, "{of_webhooks:?}");
        }
    }
}
