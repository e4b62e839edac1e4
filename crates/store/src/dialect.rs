//! Everything in which the two engines differ. Nothing else in this room asks which one it is.

/// A database engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file beside the server; one process at a time writes it.
    Sqlite,
    /// A server that several nodes share.
    Postgres,
}

impl Engine {
    /// The name for people and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    /// Whether other processes may write the same database.
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Postgres)
    }

    /// What each new connection is told. Temporary tables and journals of SQLite would otherwise be files
    /// in a directory of the system: plaintext outside the data directory, and no writes where there is no
    /// such directory.
    pub(crate) const fn on_connect(self, role: Role) -> &'static str {
        match (self, role) {
            (Self::Sqlite, Role::Writer | Role::Migrator) => {
                "PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; \
                 PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;"
            }
            (Self::Sqlite, Role::Reader) => {
                "PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; \
                 PRAGMA query_only = ON;"
            }
            // The server's own setting may acknowledge commits before they are on disk. A client that freezes
            // within a transaction loses it, and its locks, after three seconds.
            (Self::Postgres, Role::Writer) => {
                "SET synchronous_commit = on; SET lock_timeout = '10s'; SET statement_timeout = '11s'; \
                 SET idle_in_transaction_session_timeout = '3s'"
            }
            (Self::Postgres, Role::Reader) => {
                "SET default_transaction_read_only = on; SET statement_timeout = '11s'"
            }
            (Self::Postgres, Role::Migrator) => "SET synchronous_commit = on",
        }
    }

    /// Begins a write transaction. One transaction of a lane runs at a time in the whole database, so that a
    /// closure may read, decide and write without a race; SQLite has one writer, and so one lane.
    pub(crate) const fn begin(self, lane: Lane) -> &'static str {
        match (self, lane) {
            (Self::Sqlite, _) => "BEGIN IMMEDIATE",
            // The numbers are "gatehous" and "ghqueue" in ASCII. The last answer is the transaction's id.
            (Self::Postgres, Lane::Rules) => {
                "BEGIN; SELECT pg_advisory_xact_lock(7449354530846700915); SELECT pg_current_xact_id()"
            }
            (Self::Postgres, Lane::Queue) => {
                "BEGIN; SELECT pg_advisory_xact_lock(29088146253411685); SELECT pg_current_xact_id()"
            }
            (Self::Postgres, Lane::Arrivals) => "BEGIN; SELECT pg_current_xact_id()",
        }
    }

    /// Commits. PostgreSQL answers `COMMIT` of a transaction in which a statement failed as if it were one of
    /// `ROLLBACK`, without an error; the statement before it fails there.
    pub(crate) const fn commit(self) -> &'static str {
        match self {
            Self::Sqlite => "COMMIT",
            Self::Postgres => "SELECT 1; COMMIT",
        }
    }

    /// Begins a migration.
    pub(crate) const fn begin_migration(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => "BEGIN; SELECT pg_advisory_xact_lock(7449354530846700915)",
        }
    }

    /// The table of applied migrations, with the columns that sqlx gave it.
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

    /// Lets one transaction at a time give messages of the inbox their places.
    pub(crate) const fn lock_inbox(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("LOCK TABLE inbox_messages IN SHARE ROW EXCLUSIVE MODE"),
        }
    }

    /// Notes a change: subject, time. PostgreSQL notifies who listens once the transaction is committed.
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

    /// Notifies the other nodes, without a change to read.
    pub(crate) const fn notify(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some("SELECT pg_notify('gatehouse_changes', '')"),
        }
    }

    /// Empties the write-ahead log, where the engine lets a client do that.
    pub(crate) const fn checkpoint(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => Some("PRAGMA wal_checkpoint(TRUNCATE)"),
            Self::Postgres => None,
        }
    }
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Reader,
    Writer,
    Migrator,
}

/// Which writes of PostgreSQL exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Everything that has no lane of its own.
    Rules,
    /// Claims and ends of deliveries.
    Queue,
    /// New deliveries: they exclude no other write, and unique keys decide.
    Arrivals,
}
