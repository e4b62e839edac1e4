//! Calls that a person allowed for the future, on every available engine.

use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;
use gatehouse_store::testing::databases;
use gatehouse_store::testing::rows::chat_session;
use gatehouse_store::{AllowedCall, AllowedScope, ChatSessionRow, StoreError};

fn session(id: &str, key: &str) -> ChatSessionRow {
    ChatSessionRow {
        key: key.to_owned(),
        source: "channel".to_owned(),
        ..chat_session(id)
    }
}

fn call(scope: AllowedScope) -> AllowedCall {
    AllowedCall {
        agent: "default".to_owned(),
        tool: "calc".to_owned(),
        scope,
    }
}

#[tokio::test]
async fn calls_are_withdrawn_under_a_key_and_nowhere_else() {
    let keys = [
        ("own", "channel:t:ü%"),
        ("group", "channel:t:ü%:-100"),
        ("longer", "channel:t:ü%2"),
        ("pattern", "channel:t:üa:-100"),
        ("case", "channel:t:Ü%"),
        ("other", "main"),
    ];
    for database in databases().await {
        let store = database.open().await;
        let write = store.write(move |conn| {
            Box::pin(async move {
                let at = Timestamp::from_millis(1);
                for (id, key) in keys {
                    conn.insert_chat_session(&session(id, key)).await?;
                    let scope = AllowedScope::Session(SessionId::from_text(id));
                    conn.insert_allowed_call(&call(scope), None, at).await?;
                }
                let of_arguments = call(AllowedScope::Arguments("{}".to_owned()));
                let mut is_new = Vec::new();
                for _ in 0..2 {
                    is_new.push(conn.insert_allowed_call(&of_arguments, None, at).await?);
                }
                conn.delete_allowed_calls_under("channel:t:ü%").await?;
                Ok::<_, StoreError>((is_new, conn.list_allowed_calls().await?))
            })
        });
        let (is_new, rows) = write.await.unwrap();
        assert_eq!(is_new, [true, false]);
        let mut left: Vec<_> = rows
            .into_iter()
            .map(|row| match row.call.scope {
                AllowedScope::Session(id) => id.as_str().to_owned(),
                AllowedScope::Arguments(arguments) => arguments,
            })
            .collect();
        left.sort();
        assert_eq!(left, ["case", "longer", "other", "pattern", "{}"]);
    }
}

#[tokio::test]
async fn what_a_person_allowed_ends_with_the_person_unless_the_owner_allowed_it_too() {
    let (person, group) = ("channel:t:1", "channel:t:1:-100");
    let (other, longer) = ("channel:t:2", "channel:t:12");
    for database in databases().await {
        let store = database.open().await;
        let write = store.write(move |conn| {
            Box::pin(async move {
                let at = Timestamp::from_millis(1);
                for (arguments, by) in [
                    ("own", vec![Some(person)]),
                    ("group", vec![Some(group)]),
                    ("owner", vec![None]),
                    ("owner first", vec![None, Some(person)]),
                    ("owner later", vec![Some(person), None]),
                    ("two", vec![Some(person), Some(other)]),
                    ("other", vec![Some(other), Some(person)]),
                    ("longer", vec![Some(longer)]),
                ] {
                    let scope = AllowedScope::Arguments(arguments.to_owned());
                    for by in by {
                        conn.insert_allowed_call(&call(scope.clone()), by, at)
                            .await?;
                    }
                }
                conn.delete_allowed_calls_under(person).await?;
                conn.list_allowed_calls().await
            })
        });
        let rows: Result<Vec<_>, StoreError> = write.await;
        let scopes = rows.unwrap().into_iter().map(|row| row.call.scope);
        let mut left: Vec<_> = scopes
            .map(|scope| match scope {
                AllowedScope::Arguments(arguments) => arguments,
                AllowedScope::Session(id) => id.as_str().to_owned(),
            })
            .collect();
        left.sort();
        assert_eq!(
            left,
            ["longer", "other", "owner", "owner first", "owner later"]
        );
    }
}
