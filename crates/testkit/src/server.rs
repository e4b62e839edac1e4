//! A real server in this process: its own database, its own data directory, its own port.

use crate::{Actor, PASSWORD, Socket};
use gatehouse::{App, Parts};
use gatehouse_config::{Environment, Invocation, Layers};
use gatehouse_domain::{Clock, ManualClock, Random, SystemClock, SystemRandom};
use gatehouse_store::testing::{TestDatabase, sqlite};
use gatehouse_web::ConnectionLimits;
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How to start.
#[derive(Debug, Default)]
pub struct Options {
    /// The database; a new SQLite one when not given.
    pub database: Option<TestDatabase>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// A clock that the test moves; the system's when not given.
    pub clock: Option<Arc<ManualClock>>,
    /// How many connections it takes, and for how long; the usual limits when not given.
    pub connections: Option<ConnectionLimits>,
}

impl Options {
    /// With one more environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// On this database.
    #[must_use]
    pub fn database(mut self, database: TestDatabase) -> Self {
        self.database = Some(database);
        self
    }

    /// With these limits of connections.
    #[must_use]
    pub fn connections(mut self, limits: ConnectionLimits) -> Self {
        self.connections = Some(limits);
        self
    }

    /// By this clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<ManualClock>) -> Self {
        self.clock = Some(clock);
        self
    }
}

/// A running server.
pub struct TestServer {
    address: SocketAddr,
    app: App,
    database: Option<TestDatabase>,
    environment: Vec<(String, String)>,
    clock: Option<Arc<ManualClock>>,
    shutdown: CancellationToken,
    running: Option<JoinHandle<()>>,
}

impl TestServer {
    /// A fresh server with nothing set up.
    pub async fn fresh() -> Self {
        Self::start(Options::default()).await
    }

    /// A server whose owner has set the password; the owner, logged in.
    pub async fn with_owner() -> (Self, Actor) {
        let server = Self::fresh().await;
        let owner = server.set_up().await;
        (server, owner)
    }

    /// Starts.
    pub async fn start(options: Options) -> Self {
        let Options {
            database,
            environment,
            clock,
            connections,
        } = options;
        let database = database.unwrap_or_else(sqlite);
        let mut pairs = environment.clone();
        pairs.push((
            "SERVICE_DATA_DIR".into(),
            database.directory().display().to_string(),
        ));
        pairs.push(("SERVICE_DATABASE_URL".into(), database.location.url()));
        let layers = Layers::load(&Environment::from_pairs(pairs), &Invocation::default()).unwrap();
        let parts = Parts {
            clock: match &clock {
                Some(manual) => Arc::clone(manual) as Arc<dyn Clock>,
                None => Arc::new(SystemClock::new()),
            },
            random: Arc::new(SystemRandom) as Arc<dyn Random>,
        };
        let app = App::open(layers, parts).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let limits = connections.unwrap_or_default();
        let serving = (app.clone(), shutdown.clone());
        #[expect(
            clippy::disallowed_methods,
            reason = "the handle is kept and awaited by stop()"
        )]
        let running =
            tokio::spawn(async move { serving.0.serve_within(listener, limits, serving.1).await });
        Self {
            address,
            app,
            database: Some(database),
            environment,
            clock,
            shutdown,
            running: Some(running),
        }
    }

    /// Stops cleanly and starts again on the same data.
    pub async fn restart(mut self) -> Self {
        let database = self.stop().await;
        let options = Options {
            database: Some(database),
            environment: self.environment.clone(),
            clock: self.clock.clone(),
            connections: None,
        };
        Self::start(options).await
    }

    /// Stops cleanly; the database is what remains.
    pub async fn stop(&mut self) -> TestDatabase {
        self.shutdown.cancel();
        if let Some(running) = self.running.take() {
            running.await.unwrap();
        }
        self.database.take().unwrap()
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What runs.
    pub const fn app(&self) -> &App {
        &self.app
    }

    /// The data directory.
    pub fn directory(&self) -> &Path {
        self.database.as_ref().unwrap().directory()
    }

    /// A caller on this machine, without a credential.
    pub fn local(&self) -> Actor {
        Actor::local(self.address)
    }

    /// A caller from elsewhere, without a credential.
    pub fn remote(&self) -> Actor {
        self.local().remote()
    }

    /// The live setup code.
    pub fn setup_code(&self) -> String {
        self.app
            .rooms()
            .auth
            .setup_code()
            .borrow()
            .clone()
            .unwrap_or_default()
    }

    /// Sets the password from this machine; the owner, logged in.
    pub async fn set_up(&self) -> Actor {
        let reply = self
            .local()
            .post("/api/auth/setup", json!({ "password": PASSWORD }))
            .await;
        reply.expect(200);
        self.local().session(&reply.session_cookie().unwrap())
    }

    /// A caller with a new API key of these scopes.
    pub async fn api_key(&self, owner: &Actor, scopes: &[&str]) -> Actor {
        let body = json!({ "label": scopes.join(" "), "scopes": scopes });
        let made = owner.post("/api/auth/api-keys", body).await.expect(200);
        self.local().bearer(made["key"].as_str().unwrap())
    }

    /// A socket as this caller opens it.
    pub async fn socket(&self, actor: &Actor, path: &str) -> Socket {
        Socket::open(actor, path).await.unwrap()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}
