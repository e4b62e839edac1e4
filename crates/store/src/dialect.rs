//! The SQL and the settings that differ between the two engines.

use crate::letter_case::CONTAINS;

/// The key of the advisory lock that prevents a move while nodes use the database, and vice versa.
macro_rules! node_lock {
    () => {
        "5207739821604417349"
    };
}

/// Takes the shared lock of a running node, unless a move holds the lock. While a node has the lock, a move refuses
/// to start. PostgreSQL counts how often a session takes the lock, and releases it completely when the session
/// ends.
pub(crate) const SHOW_NODE: &str =
    concat!("SELECT pg_try_advisory_lock_shared(", node_lock!(), ")");

/// A database engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A database file that only one process may write at a time.
    Sqlite,
    /// A database server that several nodes may share.
    Postgres,
}

/// Returns the run of the server and the number of the transaction. The run is empty if a connection pooler kept
/// the connection while the server crashed.
macro_rules! identify_transaction {
    () => {
        "SELECT COALESCE((SELECT id FROM _server_run), ''), pg_current_xact_id()::text"
    };
}

/// The tables that belong to a server, not to an installation. Only earlier versions create `_transactions`.
pub(crate) const SERVER_TABLES: [&str; 2] = ["_server_run", "_transactions"];

impl Engine {
    /// Returns the name in logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    /// Returns the product name of the engine, for display.
    pub const fn product(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }

    /// Returns whether other nodes may write the same database.
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Postgres)
    }

    /// Returns the startup options of a connection. Unlike settings made with `SET`, they are not part of the
    /// server session, which a connection pooler may reuse for another client.
    pub(crate) const fn startup_options(self, role: Role) -> Option<&'static str> {
        match (self, role) {
            // Read-only by default, so that the server refuses a write that is sent after a failed `BEGIN`.
            (Self::Postgres, Role::Writer | Role::Reader) => {
                Some("-c default_transaction_read_only=on")
            }
            (Self::Postgres, Role::Migrator) | (Self::Sqlite, _) => None,
        }
    }

    /// Returns the statements that configure a new connection. SQLite keeps temporary tables and journals in
    /// memory. Otherwise it would write plaintext to a temporary directory of the system, and fail if there is
    /// none. A write-ahead log that grew during a long read is later truncated to 64 MiB.
    pub(crate) const fn on_connect(self, role: Role) -> &'static str {
        match (self, role) {
            (Self::Sqlite, Role::Writer | Role::Migrator) => {
                "PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 5000; \
                 PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; \
                 PRAGMA journal_size_limit = 67108864; \
                 PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;"
            }
            (Self::Sqlite, Role::Reader) => {
                "PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; \
                 PRAGMA query_only = ON;"
            }
            // The server's default for `synchronous_commit` may acknowledge commits before they are on disk. The
            // timeout rolls back a transaction, and releases its locks, if its client is idle for 3 seconds.
            (Self::Postgres, Role::Writer) => {
                "SET synchronous_commit = on; SET lock_timeout = '10s'; SET statement_timeout = '11s'; \
                 SET idle_in_transaction_session_timeout = '3s'; \
                 BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
                 INSERT INTO _server_run (only_row, id) VALUES (1, gen_random_uuid()::text) \
                     ON CONFLICT DO NOTHING; \
                 COMMIT"
            }
            (Self::Postgres, Role::Reader) => "SET statement_timeout = '11s'",
            (Self::Postgres, Role::Migrator) => "SET synchronous_commit = on",
        }
    }

    /// Returns the statements that begin a write transaction. On PostgreSQL, an advisory lock serializes the
    /// transactions of a lane in the whole database, except those of `Lane::Arrivals`. A closure can therefore
    /// read, decide and write without a race. SQLite has one writer for all lanes.
    pub(crate) const fn begin(self, lane: Lane) -> &'static str {
        match (self, lane) {
            (Self::Sqlite, _) => "BEGIN IMMEDIATE",
            // The keys of the advisory locks are arbitrary, but must be the same on all nodes.
            (Self::Postgres, Lane::Rules) => concat!(
                "BEGIN READ WRITE; SELECT pg_advisory_xact_lock(7449354530846700915); ",
                identify_transaction!()
            ),
            (Self::Postgres, Lane::Queue) => concat!(
                "BEGIN READ WRITE; SELECT pg_advisory_xact_lock(29088146253411685); ",
                identify_transaction!()
            ),
            // Permits of rate limits may be lost in a crash of the server, so the commit does not wait for the
            // disk.
            (Self::Postgres, Lane::Limits) => concat!(
                "BEGIN READ WRITE; SET LOCAL synchronous_commit = off; ",
                "SELECT pg_advisory_xact_lock(7236280916914005587); ",
                identify_transaction!()
            ),
            (Self::Postgres, Lane::Arrivals) => {
                concat!("BEGIN READ WRITE; ", identify_transaction!())
            }
        }
    }

    /// Returns the query for the status of a transaction, by the run of the server and the number. The status is
    /// NULL if the server has crashed since the transaction. After a crash, the server reuses the numbers of
    /// transactions that were not on disk.
    pub(crate) const fn outcome(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some(
                "SELECT CASE WHEN $1 = (SELECT id FROM _server_run)
                     THEN pg_xact_status($2::text::xid8) END",
            ),
        }
    }

    /// Returns the definition of the table whose only row identifies a run of the server. The table is unlogged: a
    /// server empties it when it recovers from a crash, and a replica empties it when it takes over. The column
    /// types are those of other tables, because earlier versions copy the table into their backups.
    pub(crate) const fn server_run_table(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some(
                "CREATE UNLOGGED TABLE IF NOT EXISTS _server_run (
                     only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
                     id TEXT NOT NULL
                 )",
            ),
        }
    }

    /// Returns whether the first write of a group runs without a savepoint. Under a savepoint, SQLite copies each
    /// page before its first change. Without a savepoint, a failed write rolls back the transaction, which must
    /// begin again. On PostgreSQL, this takes two round trips.
    pub(crate) const fn runs_first_write_bare(self) -> bool {
        matches!(self, Self::Sqlite)
    }

    /// Returns the statements that commit. PostgreSQL turns the `COMMIT` of a failed transaction into a `ROLLBACK`
    /// without an error. The `SELECT` before it returns an error in this case.
    pub(crate) const fn commit(self) -> &'static str {
        match self {
            Self::Sqlite => "COMMIT",
            Self::Postgres => "SELECT 1; COMMIT",
        }
    }

    /// Returns the statements that begin a migration. On PostgreSQL, a migration waits for another migration
    /// without a limit, but only briefly for the lock of a table, because all later statements on the table wait
    /// behind it, on every node. The limit is longer than the usual `deadlock_timeout`, because the server cancels
    /// an autovacuum only for a statement that has waited that long.
    pub(crate) const fn begin_migration(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => {
                "BEGIN; SELECT pg_advisory_xact_lock(7449354530846700915); \
                 SET LOCAL lock_timeout = '2s'"
            }
        }
    }

    /// Returns the statement that begins a transaction. The transaction sees the database as it is at its first
    /// read.
    pub(crate) const fn begin_snapshot(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN",
            Self::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }

    /// Returns the query for the columns of all tables except the tables of migrations and of the server. The
    /// columns are: table name, column name, kind, and position in the primary key or 0. Tables with foreign keys
    /// come last. PostgreSQL's catalog is read directly, because a query of its `information_schema` takes a
    /// second.
    pub(crate) const fn list_columns(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "SELECT t.name AS table_name, c.name AS column_name, c.type AS kind, c.pk AS place
                 FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
                 WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                     AND t.name <> '_sqlx_migrations'
                 ORDER BY EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name)), t.name, c.cid"
            }
            Self::Postgres => {
                "SELECT c.relname::text AS table_name, a.attname::text AS column_name,
                     upper(format_type(a.atttypid, NULL)) AS kind,
                     COALESCE(array_position(i.indkey::int2[], a.attnum), -1)::bigint + 1 AS place
                 FROM pg_class AS c
                 JOIN pg_attribute AS a
                     ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                 LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
                 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
                     AND c.relname NOT IN ('_sqlx_migrations', '_server_run', '_transactions')
                 ORDER BY EXISTS (SELECT 1 FROM pg_constraint AS f
                     WHERE f.conrelid = c.oid AND f.contype = 'f'), c.relname, a.attnum"
            }
        }
    }

    /// Returns queries that each return one row of text per fault of the database.
    pub(crate) const fn check_integrity(self) -> &'static [&'static str] {
        match self {
            Self::Sqlite => &[
                "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
                "SELECT \"table\" FROM pragma_foreign_key_check",
            ],
            Self::Postgres => &[],
        }
    }

    /// Returns the definition of the table of applied migrations. It has the columns that sqlx used.
    pub(crate) const fn migrations_table(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "CREATE TABLE IF NOT EXISTS _sqlx_migrations (
                     version BIGINT PRIMARY KEY,
                     description TEXT NOT NULL,
                     installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
                     success BOOLEAN NOT NULL,
                     checksum BLOB NOT NULL,
                     execution_time BIGINT NOT NULL
                 )"
            }
            Self::Postgres => {
                "CREATE TABLE IF NOT EXISTS _sqlx_migrations (
                     version BIGINT PRIMARY KEY,
                     description TEXT NOT NULL,
                     installed_on TIMESTAMPTZ NOT NULL DEFAULT now(),
                     success BOOLEAN NOT NULL,
                     checksum BYTEA NOT NULL,
                     execution_time BIGINT NOT NULL
                 )"
            }
        }
    }

    /// Returns the query that takes the exclusive lock for a move. The query returns 1 if it took the lock, which
    /// requires that no node has the shared lock ([`SHOW_NODE`]).
    pub(crate) const fn lock_out_nodes(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some(concat!(
                "SELECT CAST(CASE WHEN pg_try_advisory_lock(",
                node_lock!(),
                ") THEN 1 ELSE 0 END AS BIGINT)"
            )),
        }
    }

    /// Returns the statement that serializes the transactions that assign positions to inbox messages.
    pub(crate) const fn lock_inbox(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("LOCK TABLE inbox_messages IN SHARE ROW EXCLUSIVE MODE"),
        }
    }

    /// Returns the condition that a column contains a text, ignoring case. The parameters are the numbers of the
    /// text and of its lower-case form. SQLite needs only the second one.
    pub(crate) fn contains(self, column: &str, text: usize, lower: usize) -> String {
        match self {
            Self::Sqlite => format!("{CONTAINS}({column}, ${lower})"),
            // With some locales, the server does not convert all letters that `lower_case` converts.
            Self::Postgres => {
                format!("(strpos(LOWER({column}), ${lower}) > 0 OR strpos({column}, ${text}) > 0)")
            }
        }
    }

    /// Returns the expression for the text of a nested member of a JSON column; NULL if the member is missing or
    /// `null`.
    pub(crate) fn json_text(self, column: &str, (parents, name): (&[&str], &str)) -> String {
        let cast = match self {
            Self::Sqlite => "",
            Self::Postgres => "::json",
        };
        let parents = parents.iter().map(|parent| format!(" -> '{parent}'"));
        let parents: String = parents.collect();
        format!("({column}{cast}{parents} ->> '{name}')")
    }

    /// Returns the statement that records a change. Parameters: subject, time. On PostgreSQL it also notifies
    /// listeners when the transaction commits.
    pub(crate) const fn insert_change(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "INSERT INTO changes (seq, subject, at)
                     SELECT COALESCE(MAX(seq), 0) + 1, $1, $2 FROM changes RETURNING subject"
            }
            Self::Postgres => {
                "WITH noted AS (
                     INSERT INTO changes (seq, subject, at)
                         SELECT COALESCE(MAX(seq), 0) + 1, $1, $2 FROM changes RETURNING subject)
                 SELECT subject FROM noted, pg_notify('gatehouse_changes', '')"
            }
        }
    }

    /// Returns the query for the changes from a position on, with the run of the server. If the newest change is
    /// before the position, the query returns the newest change. A replica refuses to read the run until it has
    /// taken over.
    pub(crate) const fn list_feed(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "SELECT seq, subject, '' AS server_run FROM changes
                 WHERE seq >= MIN($1, (SELECT MAX(seq) FROM changes)) ORDER BY seq"
            }
            Self::Postgres => {
                "SELECT seq, subject, COALESCE((SELECT id FROM _server_run), '') AS server_run
                 FROM changes WHERE seq >= LEAST($1, (SELECT MAX(seq) FROM changes)) ORDER BY seq"
            }
        }
    }

    /// Returns the statement that notifies the other nodes without recording a change.
    pub(crate) const fn notify(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("SELECT pg_notify('gatehouse_changes', '')"),
        }
    }

    /// Returns the query for the current time of a database server, in Unix milliseconds. Unlike `now()`, it is not the
    /// time at which a transaction began.
    pub(crate) const fn read_clock(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => {
                Some("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)")
            }
        }
    }

    /// Returns the statement that empties the write-ahead log, if the engine has one. The first column of its row
    /// is 0 on success.
    pub(crate) const fn checkpoint(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => Some("PRAGMA wal_checkpoint(TRUNCATE)"),
            Self::Postgres => None,
        }
    }
}

/// Sets how long SQLite waits for a lock.
pub(crate) const BUSY_TIMEOUT: &str = "PRAGMA busy_timeout = 5000";

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Reader,
    Writer,
    Migrator,
}

/// A group of writes that exclude each other on PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// All writes without another lane.
    Rules,
    /// Changes of open deliveries, and deletions of deliveries.
    Queue,
    /// Inserts of deliveries. They do not exclude each other; unique keys resolve conflicts.
    Arrivals,
    /// Permits under rate limits.
    Limits,
}
