//! A real server in this process, with its own database, data directory and port.

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
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

/// Options for starting the server.
#[derive(Debug, Default)]
pub struct Options {
    /// The database. `None` creates a new SQLite database.
    pub database: Option<TestDatabase>,
    pub environment: Vec<(String, String)>,
    /// A clock that the test controls. `None` uses the system clock.
    pub clock: Option<Arc<ManualClock>>,
    /// The connection limits. `None` uses the defaults.
    pub connections: Option<ConnectionLimits>,
}

impl Options {
    /// Adds an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a provider `fake` at this base URL and makes one of its models the default.
    #[must_use]
    pub fn model(self, base_url: &Url, model: &str) -> Self {
        self.env(
            "SERVICE_MODELS__PROVIDERS__FAKE__BASE_URL",
            base_url.as_str(),
        )
        .env("SERVICE_MODELS__PROVIDERS__FAKE__API_KEY", "sk-test")
        .env("SERVICE_MODELS__DEFAULT", &format!("fake/{model}"))
    }

    #[must_use]
    pub fn database(mut self, database: TestDatabase) -> Self {
        self.database = Some(database);
        self
    }

    #[must_use]
    pub fn connections(mut self, limits: ConnectionLimits) -> Self {
        self.connections = Some(limits);
        self
    }

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
    /// Prevents drills by the server, which would verify backups with the test program as the
    /// gateway binary. Tests start drills themselves.
    _drills: OwnedMutexGuard<()>,
}

impl TestServer {
    /// Starts a new server before setup.
    pub async fn fresh() -> Self {
        Self::start(Options::default()).await
    }

    /// Starts a server and completes its setup. Returns the server and its owner, logged in.
    pub async fn with_owner() -> (Self, Actor) {
        let server = Self::fresh().await;
        let owner = server.set_up().await;
        (server, owner)
    }

    /// Starts a server.
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
        if clock.is_some() {
            app.services().store.ignore_database_clock(true);
        }
        let drills = app.services().hold_drills().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let limits = connections.unwrap_or_default();
        let serving = (app.clone(), shutdown.clone());
        #[expect(
            clippy::disallowed_methods,
            reason = "the handle is kept and awaited by stop()"
        )]
        let running = tokio::spawn(async move {
            let served = serving.0.serve_within(listener, limits, serving.1).await;
            served.unwrap();
        });
        Self {
            address,
            app,
            database: Some(database),
            environment,
            clock,
            shutdown,
            running: Some(running),
            _drills: drills,
        }
    }

    /// Stops the server cleanly and starts it again on the same data.
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

    /// Stops the server cleanly and returns the database.
    pub async fn stop(&mut self) -> TestDatabase {
        self.shutdown.cancel();
        if let Some(running) = self.running.take() {
            running.await.unwrap();
        }
        self.database.take().unwrap()
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    pub const fn app(&self) -> &App {
        &self.app
    }

    /// Returns the data directory.
    pub fn directory(&self) -> &Path {
        self.database.as_ref().unwrap().directory()
    }

    /// Returns a caller on this machine, without a credential.
    pub fn local(&self) -> Actor {
        Actor::local(self.address)
    }

    /// Returns a remote caller without a credential.
    pub fn remote(&self) -> Actor {
        self.local().remote()
    }

    /// Returns the current setup code.
    pub fn setup_code(&self) -> String {
        self.app
            .services()
            .auth
            .setup_code()
            .borrow()
            .clone()
            .unwrap_or_default()
    }

    /// Sets the password from this machine. Returns the owner, logged in.
    pub async fn set_up(&self) -> Actor {
        let reply = self
            .local()
            .post("/api/auth/setup", json!({ "password": PASSWORD }))
            .await;
        reply.expect(200);
        self.local().session(&reply.session_cookie().unwrap())
    }

    /// Creates an API key with these scopes and returns a caller that uses it.
    pub async fn api_key(&self, owner: &Actor, scopes: &[&str]) -> Actor {
        let body = json!({ "label": scopes.join(" "), "scopes": scopes });
        let made = owner.post("/api/auth/api-keys", body).await.expect(200);
        self.local().bearer(made["key"].as_str().unwrap())
    }

    /// Opens a socket as this caller.
    pub async fn socket(&self, actor: &Actor, path: &str) -> Socket {
        Socket::open(actor, path).await.unwrap()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}
