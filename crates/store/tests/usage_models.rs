//! The usage of many models on every available engine. The number of models with their own rows is limited.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::Timestamp;
use gatehouse_store::testing::databases;
use gatehouse_store::{AgentRow, BudgetRow, Store, StoreError, UsageColumn, UsageRow};

fn row(day: i64, agent: &str, model: &str) -> UsageRow {
    UsageRow {
        day,
        agent: agent.to_owned(),
        model: model.to_owned(),
        input_tokens: 1,
        turns: 1,
        ..UsageRow::default()
    }
}

async fn add(store: &Store, rows: Vec<UsageRow>) {
    let written = store.write(move |conn| {
        Box::pin(async move {
            for row in &rows {
                conn.add_usage(row).await?;
            }
            Ok(())
        })
    });
    let written: Result<(), StoreError> = written.await;
    written.unwrap();
}

/// Returns the number of turns of each model on a day.
async fn turns(store: &Store, day: i64) -> Vec<(String, i64)> {
    let read = store.read(move |conn| {
        Box::pin(async move { conn.list_usage(UsageColumn::Model, day, day).await })
    });
    let sums: Result<_, StoreError> = read.await;
    let sums = sums.unwrap().into_iter();
    sums.map(|sum| (sum.name, sum.turns)).collect()
}

fn of(turns: &[(String, i64)], model: &str) -> Option<i64> {
    let found = turns.iter().find(|(name, _)| name == model);
    found.map(|(_, turns)| *turns)
}

#[tokio::test]
async fn a_thousand_models_of_a_day_have_rows_of_their_own() {
    for database in databases().await {
        let store = database.open().await;
        let rows = (0..1_000).map(|number| row(7, "", &format!("p/{number}")));
        add(&store, rows.collect()).await;
        let counted = turns(&store, 7).await;
        assert_eq!(counted.len(), 1_000);
        assert_eq!(of(&counted, "p/999"), Some(1));

        let budget = BudgetRow {
            scope: "model:p/limited".to_owned(),
            period: "day".to_owned(),
            tokens: Some(10),
            cost_nanos: None,
        };
        let set =
            store.write(move |conn| Box::pin(async move { conn.update_budget(&budget).await }));
        let set: Result<(), StoreError> = set.await;
        set.unwrap();
        add(
            &store,
            vec![
                row(7, "", "p/1000"),
                row(7, "", "p/1001"),
                row(7, "", "q/a/b"),
                row(7, "a", "p/0"),
                row(7, "", "p/limited"),
                row(8, "", "p/1000"),
            ],
        )
        .await;
        let counted = turns(&store, 7).await;
        assert_eq!(counted.len(), 1_003);
        for (model, expected) in [
            ("p/1000", None),
            ("p/other", Some(2)),
            ("q/other", Some(1)),
            ("p/0", Some(2)),
            ("p/limited", Some(1)),
        ] {
            assert_eq!(of(&counted, model), expected, "{model}");
        }
        assert_eq!(turns(&store, 8).await, [("p/1000".to_owned(), 1)]);
    }
}

/// A budget that is set later on the same day sums the rows of its model.
#[tokio::test]
async fn configured_models_keep_their_names_on_a_day_with_a_thousand_models() {
    for database in databases().await {
        let store = database.open().await;
        let agent = |id: &str, config: &str| AgentRow {
            id: id.to_owned(),
            name: id.to_owned(),
            config: config.to_owned(),
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        };
        let agents = [
            agent(
                "a",
                r#"{"provider":"p","model":"alone","fallback":["p/next"]}"#,
            ),
            agent("b", r#"{"model":"p/lab/whole","system_prompt":"p/prompt"}"#),
        ];
        let written = store.write(move |conn| {
            Box::pin(async move {
                for agent in &agents {
                    conn.insert_agent(agent).await?;
                }
                Ok(())
            })
        });
        let written: Result<(), StoreError> = written.await;
        written.unwrap();
        let rows = (0..1_000).map(|number| row(7, "", &format!("p/{number}")));
        add(&store, rows.collect()).await;
        let configured = UsageRow {
            is_configured: true,
            ..row(7, "", "p/default")
        };
        let mut rows = vec![configured];
        for model in [
            "p/alone",
            "p/next",
            "p/lab/whole",
            "p/whole",
            "p/prom",
            "p/lon",
        ] {
            rows.push(row(7, "", model));
        }
        add(&store, rows).await;
        let counted = turns(&store, 7).await;
        for (model, expected) in [
            ("p/default", Some(1)),
            ("p/alone", Some(1)),
            ("p/next", Some(1)),
            ("p/lab/whole", Some(1)),
            ("p/other", Some(3)),
        ] {
            assert_eq!(of(&counted, model), expected, "{model}");
        }
    }
}
