//! The server: its settings, and the start of a session.

use super::{
    CONNECT, KEEPALIVE_IDLE, KEEPALIVE_INTERVAL, KEEPALIVE_RETRIES, READ_COMMITTED, UNANSWERED,
};
use crate::dialect::{Engine, Role};
use crate::postgres_silence::{Answered, ServerSilence};
use crate::postgres_tls::TlsPolicy;
use crate::{OpenError, StoreError};
use deadpool_postgres::{
    ClientWrapper, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod,
};
use std::sync::Arc;
use std::time::Instant;
use tokio_postgres::{Client, Config, SimpleQueryMessage};

/// A database on a server.
#[derive(Clone, Debug)]
pub(crate) struct PostgresServer {
    pub(crate) config: Config,
    pub(crate) tls: TlsPolicy,
    /// The silence of the server, shared by all connections of the process.
    pub(crate) silence: Arc<ServerSilence>,
    #[cfg(feature = "testing")]
    url: String,
}

impl PostgresServer {
    /// Parses `postgres://user:password@host:port/database?parameters` like libpq. `sslmode` is `disable`,
    /// `prefer` (the default), `require`, `verify-ca` or `verify-full`; `sslrootcert` names a PEM file.
    pub(crate) fn from_url(url: &str) -> Result<Self, OpenError> {
        let (url_without_tls, tls) = TlsPolicy::take_from(url)?;
        let mut config: Config = url_without_tls
            .parse()
            .map_err(|error| OpenError::postgres(StoreError::from(error)))?;
        tls.apply(&mut config);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNANSWERED);
        }
        if config.get_application_name().is_none() {
            config.application_name("gatehouse");
        }
        config
            .keepalives(true)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES);
        Ok(Self {
            config,
            tls,
            silence: Arc::default(),
            #[cfg(feature = "testing")]
            url: url.to_owned(),
        })
    }

    #[cfg(feature = "testing")]
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Creates a pool that connects on demand.
    pub(crate) fn pool(&self, role: Role, size: usize) -> Result<Pool, OpenError> {
        let manager = Manager::from_config(
            self.config_for(role),
            self.tls.connector()?,
            ManagerConfig {
                recycling_method: RecyclingMethod::Fast,
            },
        );
        let server = Arc::new(self.clone());
        let prepare = Hook::async_fn(move |client: &mut ClientWrapper, _| {
            let server = Arc::clone(&server);
            Box::pin(async move {
                let sent = Instant::now();
                let prepared = server.prepare_session(client, role).await;
                if prepared.is_ok() {
                    let answered = Answered::now(sent);
                    server
                        .silence
                        .note_answer(&client.statement_cache, answered);
                }
                prepared
            })
        });
        let silence = Arc::clone(&self.silence);
        let check = Hook::sync_fn(move |client: &mut ClientWrapper, _| {
            let answered = silence.last_answer(&client.statement_cache);
            if answered.is_some_and(|answered| silence.is_suspected(answered)) {
                return Err(HookError::message("the connection may be silent"));
            }
            Ok(())
        });
        Pool::builder(manager)
            .max_size(size)
            .post_create(prepare)
            .pre_recycle(check)
            .build()
            .map_err(|error| OpenError::postgres(StoreError::unavailable(error)))
    }

    /// Returns the configuration of a role's connections. The options of the role follow the options of the URL and
    /// override them.
    fn config_for(&self, role: Role) -> Config {
        let mut config = self.config.clone();
        if let Some(own) = Engine::Postgres.startup_options(role) {
            let options = match config.get_options() {
                Some(given) => format!("{given} {own}"),
                None => own.to_owned(),
            };
            config.options(options);
        }
        config
    }

    async fn prepare_session(&self, client: &Client, role: Role) -> Result<(), HookError> {
        if role == Role::Writer {
            // Checked because the transactions of a writer begin with `READ WRITE`, which would override a
            // read-only default of the database.
            if self.is_read_only().await? {
                let refused = "the database is read-only (default_transaction_read_only)";
                return Err(HookError::message(refused));
            }
            if !shows_read_only(client).await? {
                let refused = "the connection pooler dropped the startup option \
                     default_transaction_read_only; it must pass it on";
                return Err(HookError::message(refused));
            }
        }
        let statements = [Engine::Postgres.on_connect(role), READ_COMMITTED].concat();
        let answers = client.batch_execute(&statements).await;
        answers.map_err(HookError::Backend)
    }

    /// Returns whether transactions are read-only by default on this server, in this database or for this role. The
    /// options of a writer override the default, so a connection without these options reads it.
    async fn is_read_only(&self) -> Result<bool, HookError> {
        let tls = self.tls.connector();
        let tls = tls.map_err(|error| HookError::message(error.to_string()))?;
        let connected = self.config.connect(tls).await;
        let (client, connection) = connected.map_err(HookError::Backend)?;
        let asking = async move { shows_read_only(&client).await };
        // The connection ends when its client is dropped. If it fails, the query fails too.
        tokio::join!(asking, connection).0
    }
}

async fn shows_read_only(client: &Client) -> Result<bool, HookError> {
    let answers = client
        .simple_query("SHOW default_transaction_read_only")
        .await;
    let answers = answers.map_err(HookError::Backend)?;
    Ok(answers
        .iter()
        .any(|answer| matches!(answer, SimpleQueryMessage::Row(row) if row.get(0) == Some("on"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn lost_connections_are_noticed_within_seconds_and_the_url_may_set_its_own_timeout() {
        let server = PostgresServer::from_url("postgres://a:b@localhost/c").unwrap();
        let config = &server.config;
        assert!(config.get_keepalives());
        assert_eq!(config.get_keepalives_idle(), KEEPALIVE_IDLE);
        assert_eq!(config.get_keepalives_interval(), Some(KEEPALIVE_INTERVAL));
        assert_eq!(config.get_keepalives_retries(), Some(KEEPALIVE_RETRIES));
        assert_eq!(config.get_tcp_user_timeout(), Some(&UNANSWERED));
        assert_eq!(config.get_connect_timeout(), Some(&CONNECT));
        let url = "postgres://a:b@localhost/c?connect_timeout=4";
        let config = PostgresServer::from_url(url).unwrap().config;
        let own = Duration::from_secs(4);
        assert_eq!(config.get_connect_timeout(), Some(&own));
    }
}
