//! Looking at deliveries.

use crate::room::{accepted, create, post, until_rows};
use crate::worker::house::{House, everywhere};
use gatehouse_domain::{DeliveryStatus, ErrorCode, Problem};
use gatehouse_webhooks::{DeliveryPage, DeliveryQuery, WebhooksError};
use serde_json::json;
use std::time::Duration;

async fn list(house: &House, query: DeliveryQuery) -> DeliveryPage {
    house.webhooks.deliveries(query).await.unwrap()
}

fn query() -> DeliveryQuery {
    DeliveryQuery {
        limit: 50,
        ..DeliveryQuery::default()
    }
}

#[tokio::test]
async fn lists_are_filtered_searched_and_paged() {
    everywhere(async |database, model| {
        let house = House::open(&database, &model).await;
        let filter = json!({ "name": "n", "auth_mode": "none", "events": ["push", "fork"] });
        let one = create(&house, filter.clone()).await.webhook;
        let two = create(&house, filter).await.webhook;
        let mut sent = Vec::new();
        for (webhook, event, body) in [
            (&one, "push", r#"{"text":"Alpha 100%"}"#),
            (&one, "fork", r#"{"text":"beta"}"#),
            (&two, "push", r#"{"text":"alpha_gamma"}"#),
            (&one, "star", r#"{"text":"delta"}"#),
        ] {
            drop(
                post(&house, webhook, &[("x-event-type", event)], body)
                    .await
                    .unwrap(),
            );
            house.advance(Duration::from_millis(1));
            sent.push(
                house
                    .webhooks
                    .deliveries(DeliveryQuery {
                        limit: 1,
                        ..query()
                    })
                    .await
                    .unwrap()
                    .deliveries[0]
                    .id
                    .clone(),
            );
        }
        let ids = |page: DeliveryPage| -> Vec<usize> {
            let place = |id| sent.iter().position(|known| known == id).unwrap();
            page.deliveries
                .iter()
                .map(|delivery| place(&delivery.id))
                .collect()
        };
        assert_eq!(ids(list(&house, query()).await), [3, 2, 1, 0]);
        let of_one = |name: &str| DeliveryQuery {
            webhook: Some(name.to_owned()),
            ..query()
        };
        assert_eq!(ids(list(&house, of_one(one.id.as_str())).await), [3, 1, 0]);
        assert_eq!(ids(list(&house, of_one(&two.public_id)).await), [2]);
        let status = DeliveryQuery {
            status: Some(DeliveryStatus::Filtered),
            ..query()
        };
        assert_eq!(ids(list(&house, status).await), [3]);
        let event = DeliveryQuery {
            event: Some("push".to_owned()),
            ..query()
        };
        assert_eq!(ids(list(&house, event).await), [2, 0]);
        for (text, found) in [
            ("alpha", &[2, 0][..]),
            ("100%", &[0]),
            ("a_g", &[2]),
            ("PUSH", &[2, 0]),
            ("nothing", &[]),
            ("\\", &[]),
        ] {
            let search = DeliveryQuery {
                text: Some(text.to_owned()),
                ..query()
            };
            assert_eq!(ids(list(&house, search).await), found, "{text}");
        }
        let first = list(
            &house,
            DeliveryQuery {
                limit: 3,
                ..query()
            },
        )
        .await;
        let cursor = first.next_cursor.clone();
        assert_eq!(ids(first), [3, 2, 1]);
        let second = list(
            &house,
            DeliveryQuery {
                limit: 3,
                cursor,
                ..query()
            },
        )
        .await;
        assert_eq!(second.next_cursor, None);
        assert_eq!(ids(second), [0]);
        let refused = async |query| -> (ErrorCode, serde_json::Value) {
            let problem = Problem::from(house.webhooks.deliveries(query).await.unwrap_err());
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
        let long = DeliveryQuery {
            text: Some("x".repeat(201)),
            ..query()
        };
        assert_eq!(refused(long).await, (ErrorCode::InvalidParams, json!("q")));
        assert_eq!(refused(of_one("hook_none")).await.0, ErrorCode::NotFound);
        house.stop().await;
    })
    .await;
}

#[tokio::test]
async fn counts_are_by_the_hour_and_status() {
    everywhere(async |database, model| {
        let house = House::open(&database, &model).await;
        let made = create(&house, json!({ "name": "n", "auth_mode": "none" }))
            .await
            .webhook;
        let other = create(&house, json!({ "name": "o", "auth_mode": "none" }))
            .await
            .webhook;
        accepted(post(&house, &made, &[], "1").await);
        drop(post(&house, &made, &[], "1").await.unwrap());
        house.advance(Duration::from_hours(1));
        accepted(post(&house, &made, &[], "2").await);
        accepted(post(&house, &other, &[], "2").await);
        drop(until_rows(&house, 4).await);
        let stats = house
            .webhooks
            .stats(Some(made.id.as_str()), Some(3))
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
        let all = house.webhooks.stats(None, None).await.unwrap();
        assert_eq!(all.buckets.len(), 24);
        assert_eq!(all.buckets[23].counts[&DeliveryStatus::Queued], 2);
        for (hours, good) in [(0, false), (1, true), (720, true), (721, false)] {
            let stats: Result<_, WebhooksError> = house.webhooks.stats(None, Some(hours)).await;
            assert_eq!(stats.is_ok(), good, "{hours}");
        }
        house.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_search_that_has_looked_long_enough_says_where_it_goes_on() {
    everywhere(async |database, model| {
        let house = House::open(&database, &model).await;
        let webhook = house.webhook("big", json!({})).await;
        let row = |number: u32| {
            let id = format!("del_{number:032x}");
            let word = if number == 0 { "needle" } else { "hay" };
            gatehouse_store::NewDelivery {
                id: gatehouse_domain::DeliveryId::from_text(id),
                body_preview: word.to_owned(),
                payload: None,
                ..house.delivery(number, &webhook, "s")
            }
        };
        let new: Vec<_> = (0..=20_000).map(row).collect();
        house.insert(new).await;
        let search = async |cursor: Option<String>| {
            let text = Some("needle".to_owned());
            list(
                &house,
                DeliveryQuery {
                    text,
                    cursor,
                    ..query()
                },
            )
            .await
        };
        let first = search(None).await;
        assert!(first.deliveries.is_empty());
        let second = search(Some(first.next_cursor.unwrap())).await;
        assert_eq!((second.deliveries.len(), second.next_cursor), (1, None));
        house.stop().await;
    })
    .await;
}
