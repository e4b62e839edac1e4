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

    /// Whether a connection may have died while it lay idle in the pool.
    pub(crate) const fn connections_can_die(self) -> bool {
        matches!(self, Self::Postgres)
    }

    /// What each new connection is told. Temporary tables and journals of SQLite would otherwise be files
    /// in a directory of the system: plaintext outside the data directory, and no writes where there is no
    /// such directory.
    pub(crate) const fn on_connect(self, role: Role) -> &'static str {
        match (self, role) {
            (Self::Sqlite, Role::Writer) => {
                "PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; \
                 PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;"
            }
            (Self::Sqlite, Role::Reader) => {
                "PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; \
                 PRAGMA query_only = ON;"
            }
            (Self::Postgres, Role::Writer) => "SET lock_timeout = '10s'",
            (Self::Postgres, Role::Reader) => "SET default_transaction_read_only = on",
        }
    }

    /// Begins a write transaction. On either engine one such transaction runs at a time in the whole
    /// database, so that a closure may read, decide and write without a race.
    pub(crate) const fn begin(self) -> &'static [&'static str] {
        match self {
            Self::Sqlite => &["BEGIN IMMEDIATE"],
            // The number is "gatehous" in ASCII: the key of Gatehouse's one write lock.
            Self::Postgres => &["BEGIN", "SELECT pg_advisory_xact_lock(7449354530846700915)"],
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
}
