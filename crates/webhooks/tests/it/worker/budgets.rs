//! Deliveries that wait for a budget.

use super::harness::{Harness, START, at, everywhere};
use gatehouse_agents::{BudgetName, BudgetPeriod, NewBudget, UsageBy, UsageQuery};
use gatehouse_domain::{Clock, DeliveryStatus};
use gatehouse_store::{NewDelivery, WAITS_FOR_BUDGET};
use serde_json::json;
use std::time::Duration;

fn budget(scope: &str, tokens: i64) -> NewBudget {
    NewBudget {
        scope: scope.to_owned(),
        period: BudgetPeriod::Day,
        tokens: Some(tokens),
        cost: None,
    }
}

#[tokio::test]
async fn a_delivery_waits_without_an_attempt_until_its_budget_is_raised_or_resets() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        let other = harness.webhook("b", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Completed).await;
        let query = UsageQuery {
            from: None,
            until: None,
            by: UsageBy::Webhook,
        };
        let used = harness.agents.usage_stats(query).await.unwrap().rows;
        assert_eq!(used.len(), 1);
        assert_eq!(used[0].webhook.as_deref(), Some("hook_a"));
        assert_eq!((used[0].input_tokens, used[0].turns), (10, 1));

        let scope = "webhook:hook_a";
        harness.agents.set_budget(budget(scope, 13)).await.unwrap();
        harness.arrive(&webhook, &[(2, "a"), (3, "c")]).await;
        // Events may come in either order.
        harness.until_all(&[2, 3], DeliveryStatus::Queued).await;
        for number in [2, 3] {
            let parked = harness.row(number).await;
            assert_eq!(parked.attempts, 0);
            assert!(parked.error.unwrap().contains("budget"));
            assert!(parked.next_attempt_at.unwrap().as_millis() > harness.clock_ms());
        }
        harness.arrive(&other, &[(4, "b")]).await;
        harness.until(4, DeliveryStatus::Completed).await;
        harness.worker_has_looked().await;
        assert_eq!(harness.row(2).await.attempts, 0);
        assert_eq!(model.seen().len(), 2, "one of each webhook");

        harness.agents.set_budget(budget(scope, 26)).await.unwrap();
        harness.webhooks.wake();
        // The raised budget is enough for one of the two deliveries.
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        harness.advance(Duration::from_hours(25));
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        for number in [2, 3] {
            assert_eq!(harness.row(number).await.attempts, 1);
        }
        let name = BudgetName {
            scope: scope.to_owned(),
            period: BudgetPeriod::Day,
        };
        harness.agents.delete_budget(name).await.unwrap();
        harness.stop().await;
    })
    .await;
}

/// The turn was refused before the budget was raised, and the refusal is stored after that.
#[tokio::test]
async fn a_delivery_that_was_refused_while_its_budget_was_raised_does_not_wait_for_the_reset() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness.worker_has_looked().await;
        let raised = budget("webhook:hook_a", 1_000_000);
        harness.agents.set_budget(raised).await.unwrap();
        let resets_at = at(START + 20 * 86_400_000);
        let refused = NewDelivery {
            next_attempt_at: Some(resets_at),
            error: Some(WAITS_FOR_BUDGET.to_owned()),
            ..harness.delivery(1, &webhook, "a")
        };
        harness.insert(vec![refused]).await;
        for _ in 0..4 {
            harness.advance(Duration::from_secs(20));
            harness.worker_has_looked().await;
        }
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert!(done.attempts == 1 && harness.clock.now() < resets_at);
        harness.stop().await;
    })
    .await;
}
