//! Deliveries that wait for a budget.

use super::house::{House, everywhere};
use gatehouse_agents::{BudgetName, BudgetPeriod, NewBudget, UsageBy, UsageQuery};
use gatehouse_domain::DeliveryStatus;
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
        let house = House::open(&database, &model).await;
        let webhook = house.webhook("a", json!({})).await;
        let other = house.webhook("b", json!({})).await;
        house.work();
        house.arrive(&webhook, &[(1, "a")]).await;
        house.until(1, DeliveryStatus::Completed).await;
        let query = UsageQuery {
            from: None,
            until: None,
            by: UsageBy::Webhook,
        };
        let used = house.agents.usage_stats(query).await.unwrap().rows;
        assert_eq!(used.len(), 1);
        assert_eq!(used[0].webhook.as_deref(), Some("hook_a"));
        assert_eq!((used[0].input_tokens, used[0].turns), (7, 1));

        let scope = "webhook:hook_a";
        house.agents.set_budget(budget(scope, 12)).await.unwrap();
        house.arrive(&webhook, &[(2, "a"), (3, "c")]).await;
        // Events may come in either order.
        house.until_all(&[2, 3], DeliveryStatus::Queued).await;
        for number in [2, 3] {
            let parked = house.row(number).await;
            assert_eq!(parked.attempts, 0);
            assert!(parked.error.unwrap().contains("budget"));
            assert!(parked.next_attempt_at.unwrap().as_millis() > house.clock_ms());
        }
        house.arrive(&other, &[(4, "b")]).await;
        house.until(4, DeliveryStatus::Completed).await;
        house.worker_has_looked().await;
        assert_eq!(house.row(2).await.attempts, 0);
        assert_eq!(model.asked().len(), 2, "one of each webhook");

        house.agents.set_budget(budget(scope, 24)).await.unwrap();
        house.webhooks.wake();
        // One of the two fits into the raised budget.
        house.until_all(&[0], DeliveryStatus::Completed).await;
        house.advance(Duration::from_hours(25));
        house.until_all(&[0], DeliveryStatus::Completed).await;
        for number in [2, 3] {
            assert_eq!(house.row(number).await.attempts, 1);
        }
        let name = BudgetName {
            scope: scope.to_owned(),
            period: BudgetPeriod::Day,
        };
        house.agents.delete_budget(name).await.unwrap();
        house.stop().await;
    })
    .await;
}
