//! The results of the writes of a group if the server refuses a waiting statement.

use super::{at, message, texts};
use futures_util::future::poll_immediate;
use gatehouse_store::testing::{databases, postgres, run_sql};
use gatehouse_store::{Conn, RateRequest, Store, StoreError};
use tokio::sync::oneshot;

#[tokio::test]
async fn a_statement_refused_with_the_commit_undoes_its_write_and_returns_its_error() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    let refused: Result<(), StoreError> = store
        .write(|conn| {
            Box::pin(async move {
                // PostgreSQL rejects NUL in text.
                conn.insert_inbox_messages(&[message(1, "a"), message(2, "\0")], 10)
            })
        })
        .await;
    assert!(
        matches!(refused, Err(StoreError::NulCharacter(_))),
        "{refused:?}"
    );
    assert_eq!(texts(&store).await, [""; 0]);
    store.close().await;
}

#[tokio::test]
async fn a_refused_statement_undoes_only_its_own_write_of_a_group() {
    for database in databases().await {
        let store = database.open().await;
        let (go_on, gate) = oneshot::channel::<()>();
        let (begin, has_begun) = oneshot::channel::<()>();
        let first = store.write(|conn| {
            Box::pin(async move {
                conn.find_last_change().await?;
                begin.send(()).unwrap();
                // On SQLite, the closure must not wait.
                if conn.round_trips() > 0 {
                    gate.await.unwrap();
                }
                Ok::<(), StoreError>(())
            })
        });
        let write = |n, text: &'static str, is_wanted: bool| {
            let write = store.write(move |conn| {
                Box::pin(async move {
                    conn.insert_inbox_messages(&[message(n, text)], 10)?;
                    is_wanted
                        .then_some(())
                        .ok_or(StoreError::Damaged { what: "wish" })
                })
            });
            async move { write.await.is_ok() }
        };
        let others = async {
            has_begun.await.unwrap();
            let (one, twice, unwanted, two, ()) = tokio::join!(
                write(1, "one", true),
                // A message with this ID exists.
                write(1, "twice", true),
                write(3, "unwanted", false),
                write(2, "two", true),
                async { _ = go_on.send(()) }
            );
            [one, twice, unwanted, two]
        };
        let (first, others) = tokio::join!(first, others);
        first.unwrap();
        assert_eq!(others, [true, false, false, true]);
        assert_eq!(texts(&store).await, ["two", "one"]);
        store.close().await;
    }
}

/// The fault of the second write of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The write stores a message in a table that lacks a column.
    Unprepared,
    /// The write reads with an invalid value and ignores the error.
    Ignored,
    /// The write drops a statement before its end.
    Dropped,
}

/// Runs writes in one group. Another write occupies the writer until all of them wait.
async fn in_one_group<T>(store: &Store, writes: impl Future<Output = T>) -> T {
    let (go_on, gate) = oneshot::channel::<()>();
    let (begin, has_begun) = oneshot::channel::<()>();
    let gatekeeper = store.write(|conn| {
        Box::pin(async move {
            begin.send(()).unwrap();
            gate.await.unwrap();
            conn.find_last_change().await.map(drop)
        })
    });
    let others = async {
        has_begun.await.unwrap();
        let (written, ()) = tokio::join!(writes, async { _ = go_on.send(()) });
        written
    };
    let (first, written) = tokio::join!(gatekeeper, others);
    let first: Result<(), StoreError> = first;
    first.unwrap();
    written
}

async fn write(store: &Store, key: &'static str, fault: Option<Fault>) -> Result<(), StoreError> {
    let write = store.write(move |conn| {
        Box::pin(async move {
            if fault == Some(Fault::Unprepared) {
                return conn.insert_inbox_messages(&[message(1, "a")], 10);
            }
            if fault == Some(Fault::Dropped) {
                let value = 1.into();
                let statement = conn.update_setting(key, &value, at(1));
                drop(poll_immediate(statement).await);
                return Ok(());
            }
            conn.update_setting(key, &1.into(), at(1)).await?;
            if fault == Some(Fault::Ignored) {
                // PostgreSQL rejects NUL in text.
                drop(conn.find_setting("a\0b").await);
            }
            Ok::<(), StoreError>(())
        })
    });
    write.await
}

async fn has(store: &Store, key: &'static str) -> bool {
    let found = store.read(move |conn| Box::pin(async move { conn.find_setting(key).await }));
    let found: Result<_, StoreError> = found.await;
    found.unwrap().is_some()
}

#[tokio::test]
async fn no_acknowledged_write_of_a_group_is_undone_with_another_one() {
    for fault in [Fault::Unprepared, Fault::Ignored, Fault::Dropped] {
        let Some(database) = postgres().await else {
            return;
        };
        let store = database.open().await;
        let rename = "ALTER TABLE inbox_messages RENAME COLUMN text TO body";
        run_sql(&database.location, rename).await;
        let writes = async {
            tokio::join!(
                write(&store, "one", None),
                write(&store, "two", Some(fault)),
                write(&store, "three", None),
            )
        };
        let (one, two, three) = in_one_group(&store, writes).await;
        assert_eq!(has(&store, "one").await, one.is_ok(), "{fault:?}");
        assert_eq!(has(&store, "three").await, three.is_ok(), "{fault:?}");
        assert!(!has(&store, "two").await, "{fault:?}");
        two.unwrap_err();
        match fault {
            // Only the refused write is undone.
            Fault::Unprepared => assert!(one.is_ok() && three.is_ok(), "{one:?} {three:?}"),
            Fault::Ignored | Fault::Dropped => {
                for undone in [one, three] {
                    let error = undone.unwrap_err();
                    assert!(error.is_unavailable(), "{error:?}");
                }
            }
        }
        write(&store, "after", None).await.unwrap();
        store.close().await;
    }
}

/// Replaces the function with which `BEGIN` takes the lock of a lane, in later sessions. Its error looks like an
/// error of a statement.
const BREAK_BEGIN: &str = "DO $$ BEGIN EXECUTE format(
        'ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$;
    CREATE FUNCTION public.pg_advisory_xact_lock(bigint) RETURNS void LANGUAGE plpgsql
        AS 'BEGIN RAISE division_by_zero; END'";
const REPAIR_BEGIN: &str = "DROP FUNCTION public.pg_advisory_xact_lock(bigint)";

#[tokio::test]
async fn a_transaction_that_cannot_begin_may_be_repeated() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    run_sql(&database.location, BREAK_BEGIN).await;
    let add = |n| {
        store.write(move |conn| {
            Box::pin(async move { conn.insert_inbox_messages(&[message(n, "a")], 10) })
        })
    };
    // The first write is alone and has only one waiting statement. The other writes are a group.
    let (alone, one, two) = tokio::join!(add(1), write(&store, "one", None), add(2));
    for refused in [alone, one, two] {
        let error: StoreError = refused.unwrap_err();
        assert!(error.is_unavailable(), "{error:?}");
    }
    let alone = write(&store, "one", None).await.unwrap_err();
    assert!(alone.is_unavailable(), "{alone:?}");
    assert!(!has(&store, "one").await);
    assert_eq!(texts(&store).await, [""; 0]);

    run_sql(&database.location, REPAIR_BEGIN).await;
    let (alone, one, two) = tokio::join!(add(1), write(&store, "one", None), add(2));
    for written in [alone, one, two] {
        written.unwrap();
    }
    assert!(has(&store, "one").await);
    assert_eq!(texts(&store).await, ["a"; 2]);
    store.close().await;
}

/// Takes up to `wanted` of ten permits. The statement that stores them waits to be sent.
async fn take_permits(conn: &mut Conn, name: &str, wanted: u32) -> Result<u32, StoreError> {
    let request = RateRequest {
        wanted,
        limit: 10,
        window_ms: 60_000,
    };
    let lease = conn.lease_rate(name, request, at(3_600_000)).await?;
    Ok(lease.granted)
}

#[tokio::test]
async fn a_deadlock_undoes_one_write_and_no_other_of_its_group() {
    let Some(database) = postgres().await else {
        return;
    };
    let (node, other) = (database.open().await, database.open().await);
    let (has, other_has) = oneshot::channel();
    let (asks, node_asks) = oneshot::channel();
    // Takes "b", then "a".
    let crossing = other.write_arrivals(|conn| {
        Box::pin(async move {
            take_permits(conn, "b", 1).await?;
            // Sends the waiting statements.
            conn.find_last_change().await?;
            has.send(()).unwrap();
            node_asks.await.unwrap();
            take_permits(conn, "a", 1).await
        })
    });
    let take = |name, asks: Option<oneshot::Sender<()>>| {
        node.write(move |conn| {
            Box::pin(async move {
                if let Some(asks) = asks {
                    asks.send(()).unwrap();
                }
                take_permits(conn, name, 1).await
            })
        })
    };
    let group = async {
        other_has.await.unwrap();
        let writes =
            async { tokio::join!(take("a", None), take("b", Some(asks)), take("c", None)) };
        in_one_group(&node, writes).await
    };
    let (crossing, (a, b, c)) = tokio::join!(crossing, group);
    // PostgreSQL chooses which transaction fails.
    for (loser, winner) in [(&b, &crossing), (&crossing, &b)] {
        if let Err(error) = loser {
            assert!(matches!(error, StoreError::Deadlock(_)), "{error:?}");
            assert!(winner.is_ok(), "{winner:?}");
        }
    }
    assert!(b.is_err() || crossing.is_err());
    assert_eq!((a.unwrap(), c.unwrap()), (1, 1));
    let crossed = u32::from(crossing.is_ok());
    let taken = [
        ("a", 1 + crossed),
        ("b", u32::from(b.is_ok()) + crossed),
        ("c", 1),
    ];
    for (name, taken) in taken {
        let left = node
            .write_limits(move |conn| Box::pin(async move { take_permits(conn, name, 10).await }));
        assert_eq!(left.await.unwrap(), 10 - taken, "{name}");
    }
    node.close().await;
    other.close().await;
}
