//! Moves between databases, on every pair of engines.

use gatehouse_store::testing::rows::{at, auth_session};
use gatehouse_store::testing::{
    TestDatabase, databases, empty_databases, empty_sqlite, migrate, number, postgres, run_sql,
};
use gatehouse_store::{
    AuthSessionRow, Conn, ImportError, MoveStep, NodeLock, OpenError, Store, StoreError, move_rows,
};
use std::time::Duration;
use tokio::task::JoinSet;

/// The number of rows. More than fit into one page.
const ROWS: i64 = 600;

async fn add(database: &TestDatabase, numbers: std::ops::Range<i64>) -> Result<(), StoreError> {
    let store = database.open().await;
    let write = store.write(move |conn: &mut Conn| {
        Box::pin(async move {
            for n in numbers {
                conn.insert_auth_session(&auth_session(n)).await?;
            }
            Ok::<_, StoreError>(())
        })
    });
    let written = write.await;
    store.close().await;
    written
}

async fn sessions(database: &TestDatabase) -> Result<Vec<AuthSessionRow>, StoreError> {
    let store = database.open().await;
    let read = store.read(|conn: &mut Conn| {
        Box::pin(async move { conn.list_auth_sessions(at(0), 100_000).await })
    });
    let rows: Result<_, StoreError> = read.await;
    store.close().await;
    let mut rows = rows?;
    rows.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
    Ok(rows)
}

/// Begins a move that panics after the first page.
async fn interrupt_move(from: &TestDatabase, to: &TestDatabase) {
    let (source, target) = (from.location.clone(), to.location.clone());
    let mut process = JoinSet::new();
    process
        .spawn(async move { move_rows(&source, &target, |_, done, _| assert!(done < 300)).await });
    let ended = process.join_next().await;
    assert!(matches!(ended, Some(Err(error)) if error.is_panic()));
}

/// Creates a database with rows and an empty one, for each pair of engines.
async fn pairs() -> Result<Vec<(TestDatabase, TestDatabase)>, StoreError> {
    let mut pairs = Vec::new();
    for turned in [false, true] {
        for to in empty_databases().await {
            let from = empty_databases().await.into_iter();
            let mut from: Vec<_> = from
                .filter(|from| (from.engine() == to.engine()) != turned)
                .collect();
            if let Some(from) = from.pop() {
                add(&from, 0..ROWS).await?;
                pairs.push((from, to));
            }
        }
    }
    Ok(pairs)
}

#[tokio::test]
async fn every_row_arrives_and_the_source_keeps_it() {
    for (from, to) in pairs().await.unwrap() {
        let mut steps = Vec::new();
        let moved = move_rows(&from.location, &to.location, |step, done, total| {
            steps.push((step, done, total));
        });
        let moved = moved.await.unwrap();
        let table = moved.iter().find(|table| table.name == "auth_sessions");
        assert_eq!(table.unwrap().rows, 600);
        let total: u64 = moved.iter().map(|table| table.rows).sum();
        for step in [MoveStep::Copy, MoveStep::Compare] {
            let last = steps.iter().rfind(|(at, ..)| *at == step);
            assert_eq!(last, Some(&(step, total, total)));
        }
        let (kept, arrived) = (sessions(&from).await.unwrap(), sessions(&to).await.unwrap());
        assert_eq!(kept.len(), 600);
        assert_eq!(kept, arrived, "{:?} to {:?}", from.engine(), to.engine());
    }
}

#[tokio::test]
async fn an_interrupted_move_opens_no_server_and_is_continued() {
    for (from, to) in pairs().await.unwrap() {
        interrupt_move(&from, &to).await;
        let refused = Store::open(&to.location).await;
        assert!(matches!(refused, Err(OpenError::UnfinishedMove)));
        assert!(matches!(
            move_rows(&to.location, &empty_sqlite().location, |_, _, _| ()).await,
            Err(ImportError::Open(OpenError::UnfinishedMove))
        ));
        move_rows(&from.location, &to.location, |_, _, _| ())
            .await
            .unwrap();
        assert_eq!(sessions(&from).await.unwrap(), sessions(&to).await.unwrap());
    }
}

#[tokio::test]
async fn a_source_that_changes_meanwhile_is_noticed() {
    for (from, to) in pairs().await.unwrap() {
        interrupt_move(&from, &to).await;
        // The row was already copied, so comparing only the number of rows would not detect the change.
        run_sql(
            &from.location,
            "UPDATE auth_sessions SET user_agent = 'another' WHERE id = 'as_0'",
        )
        .await;
        let refused = move_rows(&from.location, &to.location, |_, _, _| ()).await;
        assert!(
            matches!(&refused, Err(ImportError::Differs { table }) if table == "auth_sessions"),
            "{refused:?}"
        );
        let refused = Store::open(&to.location).await;
        assert!(matches!(refused, Err(OpenError::UnfinishedMove)));
    }
}

#[tokio::test]
async fn an_unfinished_move_gets_no_rows_of_another_source() {
    for (from, to) in pairs().await.unwrap() {
        interrupt_move(&from, &to).await;
        let count = "SELECT COUNT(*) FROM auth_sessions";
        let before = number(&to.location, count).await;
        assert!(before > 0 && before < ROWS, "{before}");
        let other = empty_sqlite();
        add(&other, 1_000..1_000 + ROWS).await.unwrap();
        // The source has fewer rows than the target.
        let short = empty_sqlite();
        add(&short, 0..1).await.unwrap();
        for wrong in [&other, &short] {
            let refused = move_rows(&wrong.location, &to.location, |_, _, _| ()).await;
            assert!(
                matches!(refused, Err(ImportError::Differs { .. })),
                "{refused:?}"
            );
            assert_eq!(number(&to.location, count).await, before);
        }
        move_rows(&from.location, &to.location, |_, _, _| ())
            .await
            .unwrap();
        assert_eq!(sessions(&from).await.unwrap(), sessions(&to).await.unwrap());
    }
}

#[tokio::test]
async fn a_database_with_rows_is_no_target() {
    for (from, to) in pairs().await.unwrap() {
        add(&to, 9_000..9_001).await.unwrap();
        let refused = move_rows(&from.location, &to.location, |_, _, _| ()).await;
        assert!(matches!(refused, Err(ImportError::NotEmpty)), "{refused:?}");
        assert_eq!(sessions(&to).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_database_of_an_earlier_version_arrives_up_to_date() {
    let (from, to) = (empty_sqlite(), empty_sqlite());
    migrate(&from.location, Some(20)).await;
    add_old(&from).await;
    move_rows(&from.location, &to.location, |_, _, _| ())
        .await
        .unwrap();
    assert_eq!(sessions(&to).await.unwrap().len(), 1);
}

async fn add_old(database: &TestDatabase) {
    run_sql(
        &database.location,
        "INSERT INTO auth_sessions (id, token_hash, login_method, created_at, last_seen_at, expires_at, confirmed_at)
         VALUES ('as_1', 'hash', 'password', 1, 1, 1000000, 1)",
    )
    .await;
}

#[tokio::test]
async fn a_node_and_a_move_do_not_use_a_database_at_the_same_time() {
    for database in databases().await {
        let node = database.open().await;
        if node.engine().is_shared() {
            // The first notification reports that the node is listening.
            node.notified().changed().await.unwrap();
            let lock = NodeLock::take(&database.location).await.unwrap();
            assert!(lock.is_none());
        }
        node.close().await;
        let lock = NodeLock::take(&database.location).await.unwrap();
        assert!(lock.is_some());
    }
}

#[tokio::test]
async fn a_node_that_started_during_a_move_is_noticed_by_the_next_one() {
    let Some(database) = postgres().await else {
        return;
    };
    let moving = NodeLock::take(&database.location).await.unwrap();
    assert!(moving.is_some());
    let node = database.open().await;
    node.notified().changed().await.unwrap();
    drop(moving);
    let noticed = async {
        while NodeLock::take(&database.location).await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let noticed = tokio::time::timeout(Duration::from_secs(40), noticed).await;
    noticed.unwrap();
    node.close().await;
}
