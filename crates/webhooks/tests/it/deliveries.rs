//! Tests for querying deliveries.

use crate::requests::{accepted, create, post, until_rows};
use crate::worker::harness::{Harness, everywhere};
use gatehouse_domain::{Clock, DeliveryId, DeliveryStatus, ErrorCode, Problem, Timestamp};
use gatehouse_webhooks::{
    BucketSize, DeliveryPage, DeliveryQuery, StatsQuery, Webhook, WebhooksError,
};
use serde_json::json;
use std::time::Duration;

async fn list(harness: &Harness, query: DeliveryQuery) -> DeliveryPage {
    harness.webhooks.deliveries(query).await.unwrap()
}

fn query() -> DeliveryQuery {
    DeliveryQuery {
        limit: 50,
        ..DeliveryQuery::default()
    }
}

/// Stores four deliveries to two webhooks; the last one is filtered. Returns their IDs, oldest first.
async fn four(harness: &Harness) -> (Vec<Webhook>, Vec<DeliveryId>) {
    let filter = json!({ "name": "n", "auth_mode": "none", "events": ["push", "fork"] });
    let one = create(harness, filter.clone()).await.webhook;
    let two = create(harness, filter).await.webhook;
    for (webhook, event, body) in [
        (&one, "push", r#"{"text":"Alpha 100%"}"#),
        (&one, "fork", r#"{"text":"beta"}"#),
        (&two, "push", r#"{"text":"alpha_gamma"}"#),
        (&one, "star", r#"{"text":"DÉLTA"}"#),
    ] {
        drop(
            post(harness, webhook, &[("x-event-type", event)], body)
                .await
                .unwrap(),
        );
    }
    let page = list(harness, query()).await;
    let ids = page.deliveries.into_iter().rev();
    (vec![one, two], ids.map(|delivery| delivery.id).collect())
}

/// Returns the positions of a page's deliveries among the four.
fn places(all: &[DeliveryId], page: &DeliveryPage) -> Vec<usize> {
    let place = |id| all.iter().position(|known| known == id).unwrap();
    let shown = page.deliveries.iter();
    shown.map(|delivery| place(&delivery.id)).collect()
}

fn asked(member: &str, value: &str) -> DeliveryQuery {
    let mut asked = query();
    let text = Some(value.to_owned());
    match member {
        "id" => asked.webhook = text,
        "event" => asked.event = text,
        "q" => asked.text = text,
        _ => asked.statuses = value.parse().into_iter().collect(),
    }
    asked
}

#[tokio::test]
async fn lists_are_filtered_and_searched() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let (hooks, all) = four(&harness).await;
        let (one, two) = (hooks[0].id.as_str(), hooks[1].public_id.as_str());
        for (member, value, found) in [
            ("q", "", &[3, 2, 1, 0][..]),
            ("id", one, &[3, 1, 0]),
            ("id", two, &[2]),
            ("status", "filtered", &[3]),
            ("event", "push", &[2, 0]),
            ("q", "alpha", &[2, 0]),
            ("q", "100%", &[0]),
            ("q", "a_g", &[2]),
            ("q", "PUSH", &[2, 0]),
            ("q", "DÉL", &[3]),
            ("q", "nothing", &[]),
            ("q", "\\", &[]),
        ] {
            let page = list(&harness, asked(member, value)).await;
            assert_eq!(places(&all, &page), found, "{member} {value}");
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn lists_are_paged_and_refuse_what_they_cannot_read() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let (_, all) = four(&harness).await;
        let first = list(
            &harness,
            DeliveryQuery {
                limit: 3,
                ..query()
            },
        )
        .await;
        assert_eq!(places(&all, &first), [3, 2, 1]);
        let cursor = first.next_cursor;
        let second = list(
            &harness,
            DeliveryQuery {
                limit: 3,
                cursor,
                ..query()
            },
        )
        .await;
        assert_eq!(
            (places(&all, &second), &second.next_cursor),
            (vec![0], &None)
        );
        let refused = async |query| -> (ErrorCode, serde_json::Value) {
            let problem = Problem::from(harness.webhooks.deliveries(query).await.unwrap_err());
            (
                problem.code,
                problem.details.get("field").cloned().unwrap_or_default(),
            )
        };
        let cursor = DeliveryQuery {
            cursor: Some("x".to_owned()),
            ..query()
        };
        assert_eq!(
            refused(cursor).await,
            (ErrorCode::InvalidParams, json!("cursor"))
        );
        let long = |length| DeliveryQuery {
            text: Some("x".repeat(length)),
            ..query()
        };
        assert_eq!(
            refused(long(201)).await,
            (ErrorCode::InvalidParams, json!("q"))
        );
        assert!(list(&harness, long(200)).await.deliveries.is_empty());
        let nobody = DeliveryQuery {
            webhook: Some("hook_none".to_owned()),
            ..query()
        };
        assert_eq!(refused(nobody).await.0, ErrorCode::NotFound);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn counts_are_by_the_hour_and_status() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, json!({ "name": "n", "auth_mode": "none" }))
            .await
            .webhook;
        let other = create(&harness, json!({ "name": "o", "auth_mode": "none" }))
            .await
            .webhook;
        accepted(post(&harness, &made, &[], "1").await);
        drop(post(&harness, &made, &[], "1").await.unwrap());
        harness.advance(Duration::from_hours(1));
        accepted(post(&harness, &made, &[], "2").await);
        accepted(post(&harness, &other, &[], "2").await);
        drop(until_rows(&harness, 4).await);
        let stats = harness
            .webhooks
            .stats(StatsQuery {
                webhook: Some(made.id.to_string()),
                hours: Some(3),
                ..StatsQuery::default()
            })
            .await
            .unwrap();
        let shown = serde_json::to_value(&stats).unwrap();
        let buckets = shown["buckets"].as_array().unwrap();
        assert_eq!(buckets.len(), 3);
        assert_eq!(buckets[2]["queued"], 1);
        assert_eq!(
            (&buckets[1]["queued"], &buckets[1]["deduplicated"]),
            (&json!(1), &json!(1))
        );
        assert_eq!(
            (&buckets[0]["queued"], &buckets[0]["failed"]),
            (&json!(0), &json!(0))
        );
        assert!(buckets[2]["at"].as_str().unwrap().ends_with(":00:00.000Z"));
        let all = harness.webhooks.stats(StatsQuery::default()).await.unwrap();
        assert_eq!(all.buckets.len(), 24);
        assert_eq!(all.buckets[23].counts[&DeliveryStatus::Queued], 2);
        for (hours, good) in [(0, false), (1, true), (720, true), (721, false)] {
            let query = StatsQuery {
                hours: Some(hours),
                ..StatsQuery::default()
            };
            let stats: Result<_, WebhooksError> = harness.webhooks.stats(query).await;
            assert_eq!(stats.is_ok(), good, "{hours}");
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_search_that_reaches_its_time_limit_returns_where_to_continue() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("big", json!({})).await;
        let row = |number: u32| {
            let id = format!("del_{number:032x}");
            let word = if number == 0 { "needle" } else { "hay" };
            gatehouse_store::NewDelivery {
                id: gatehouse_domain::DeliveryId::from_text(id),
                body_preview: word.to_owned(),
                payload: None,
                ..harness.delivery(number, &webhook, "s")
            }
        };
        let new: Vec<_> = (0..=20_000).map(row).collect();
        harness.insert(new).await;
        let search = async |cursor: Option<String>| {
            let text = Some("needle".to_owned());
            list(
                &harness,
                DeliveryQuery {
                    text,
                    cursor,
                    ..query()
                },
            )
            .await
        };
        let mut page = search(None).await;
        assert!(page.deliveries.is_empty());
        assert!(page.next_cursor.is_some());
        // A page may end early on a slow machine, because its time is limited.
        while let Some(cursor) = page.next_cursor {
            page = search(Some(cursor)).await;
        }
        assert_eq!(page.deliveries.len(), 1);
        harness.stop().await;
    })
    .await;
}

/// Deliveries of a session run in ID order.
#[tokio::test]
async fn ids_keep_their_order_when_the_clock_is_set_back_and_over_a_restart() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let one = create(&harness, json!({ "name": "n", "auth_mode": "none" }))
            .await
            .webhook;
        let come = async |harness: &Harness, body: &str| {
            accepted(post(harness, &one, &[], body).await)
                .as_str()
                .to_owned()
        };
        let mut ids = Vec::new();
        for (days, body) in [(0, "1"), (3, "2"), (-5, "3"), (1, "4")] {
            harness.jump_days(days);
            ids.push(come(&harness, body).await);
        }
        harness.stop().await;
        let harness = Harness::open(&database, &model).await;
        harness.jump_days(-10);
        ids.push(come(&harness, "5").await);
        assert!(ids.is_sorted(), "{ids:?}");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_period_has_its_first_moment_and_not_its_last() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let one = create(&harness, json!({ "name": "n", "auth_mode": "none" }))
            .await
            .webhook;
        let mut came = Vec::new();
        for body in ["1", "2", "3"] {
            came.push((
                accepted(post(&harness, &one, &[], body).await),
                harness.clock.now(),
            ));
            harness.advance(Duration::from_hours(30));
        }
        let second = came[1].1;
        let later = second.after(Duration::from_millis(1));
        for (from, until, found) in [
            (None, None, &[2, 1, 0][..]),
            (Some(second), None, &[2, 1]),
            (Some(later), None, &[2]),
            (None, Some(second), &[0]),
            (None, Some(later), &[1, 0]),
            (Some(second), Some(later), &[1]),
        ] {
            let page = list(
                &harness,
                DeliveryQuery {
                    from,
                    until,
                    ..query()
                },
            )
            .await;
            let shown: Vec<_> = page.deliveries.into_iter().map(|it| it.id).collect();
            let expected: Vec<_> = found.iter().map(|place| came[*place].0.clone()).collect();
            assert_eq!(shown, expected, "{from:?} {until:?}");
            let stats = harness.webhooks.stats(StatsQuery {
                from: from.or(Some(came[0].1)),
                until,
                bucket: BucketSize::Day,
                ..StatsQuery::default()
            });
            let buckets = stats.await.unwrap().buckets;
            let count: i64 = buckets.iter().flat_map(|it| it.counts.values()).sum();
            assert_eq!(count, i64::try_from(found.len()).unwrap());
            let day = |at: Timestamp| at.as_millis() % 86_400_000;
            assert!(buckets.iter().all(|it| day(it.at) == 0));
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn periods_of_counts_are_bounded() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let at = |hours: i64| Some(Timestamp::from_millis(hours * 3_600_000));
        let ask = async |from, until, hours, bucket| {
            let query = StatsQuery {
                from,
                until,
                hours,
                bucket,
                ..StatsQuery::default()
            };
            let stats = harness.webhooks.stats(query).await;
            stats.map(|stats| stats.buckets.len()).map_err(|error| {
                Problem::from(error).details["field"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
        };
        let (hour, day) = (BucketSize::Hour, BucketSize::Day);
        assert_eq!(ask(at(0), at(720), None, hour).await, Ok(720));
        assert_eq!(
            ask(at(0), at(721), None, hour).await,
            Err("from".to_owned())
        );
        assert_eq!(ask(at(0), at(366 * 24), None, day).await, Ok(366));
        assert_eq!(
            ask(at(0), at(367 * 24), None, day).await,
            Err("from".to_owned())
        );
        assert_eq!(ask(None, at(48), None, hour).await, Ok(24));
        assert_eq!(ask(at(2), at(2), None, hour).await, Err("from".to_owned()));
        assert_eq!(
            ask(at(1), at(2), Some(1), hour).await,
            Err("hours".to_owned())
        );
        harness.stop().await;
    })
    .await;
}
