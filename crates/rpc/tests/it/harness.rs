//! A server with real services, and requests to it.

use gatehouse_auth::kdf_queue::KdfQueue;
use gatehouse_auth::{
    Auth, AuthIdentity, AuthMethod, Decision, RequestContext, RequestFacts, Subject,
};
use gatehouse_config::{Environment, Invocation, Layers};
use gatehouse_domain::{Clock, ManualClock, Random, Scope, ScopeSet, SeededRandom, Timestamp};
use gatehouse_rpc::Rpc;
use gatehouse_secrets::Secrets;
use gatehouse_services::{Build, LiveConfig, Services, ServicesParts};
use gatehouse_store::Location;
use gatehouse_store::testing::{TestDatabase, sqlite};
use http::{HeaderMap, Method, Uri};
use serde_json::Value;
use std::sync::Arc;

pub struct Harness {
    pub rpc: Rpc,
    pub clock: Arc<ManualClock>,
    database: TestDatabase,
}

pub const START: Timestamp = Timestamp::from_millis(1_795_132_800_000);

impl Harness {
    pub async fn new() -> Self {
        Self::with_environment(&[]).await
    }

    pub async fn with_environment(variables: &[(&str, &str)]) -> Self {
        Self::on(sqlite(), variables).await
    }

    pub async fn on(database: TestDatabase, variables: &[(&str, &str)]) -> Self {
        let store = database.open().await;
        let environment = Environment::from_pairs(variables.iter().copied());
        let invocation = Invocation {
            data_dir: Some(database.directory().to_owned()),
            ..Default::default()
        };
        let layers = Layers::load(&environment, &invocation).unwrap();
        let rows = store.read(|conn| Box::pin(async move { conn.list_settings().await }));
        let config = Arc::new(LiveConfig::new(layers, rows.await.unwrap()).unwrap());
        let manual = Arc::new(ManualClock::at(START));
        let clock: Arc<dyn Clock> = manual.clone();
        let random: Arc<dyn Random> = Arc::new(SeededRandom::new(1));
        let kdf = KdfQueue::new(2);
        let secrets = Secrets::open(
            store.clone(),
            kdf.clone(),
            clock.clone(),
            random.clone(),
            config.secrets_settings(),
        );
        let secrets = secrets.await.unwrap();
        let auth = Auth::open(
            store.clone(),
            secrets.clone(),
            kdf,
            clock.clone(),
            random.clone(),
            config.auth_settings(),
        );
        let parts = ServicesParts {
            store,
            secrets,
            auth: auth.await.unwrap(),
            config,
            started_at_ms: clock.monotonic_ms(),
            clock,
            random,
            build: Build {
                version: "9.9.9",
                vault: true,
                voice: cfg!(feature = "voice"),
            },
        };
        Self {
            rpc: Rpc::new(Arc::new(Services::open(parts).await.unwrap())),
            clock: manual,
            database,
        }
    }

    pub const fn location(&self) -> &Location {
        &self.database.location
    }

    pub fn services(&self) -> &Arc<Services> {
        self.rpc.services()
    }

    /// Returns a request from this machine with these headers.
    pub async fn context(&self, headers: &[(&'static str, &str)]) -> RequestContext {
        self.visit_from("127.0.0.1", headers).await
    }

    pub async fn visit_from(&self, peer: &str, headers: &[(&'static str, &str)]) -> RequestContext {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        let facts = RequestFacts {
            method: &Method::GET,
            uri: &Uri::from_static("/ws"),
            headers: &map,
            peer: peer.parse().unwrap(),
            over_tls: false,
        };
        self.services().auth.recognise(&facts).await.unwrap()
    }

    /// Returns a caller with these scopes, valid while setup is incomplete.
    pub async fn holder_of(&self, scopes: &[Scope]) -> RequestContext {
        let mut context = self.context(&[]).await;
        context.decision = Decision::Allowed(AuthIdentity {
            method: AuthMethod::ApiKey,
            scopes: scopes.iter().copied().collect::<ScopeSet>(),
            subject: Subject::LoopbackSetup,
        });
        context
    }

    /// Calls a method with this visit and returns the whole response.
    pub async fn ask(&self, context: &RequestContext, method: &str, params: Value) -> Value {
        let request = serde_json::json!({ "id": 1, "method": method, "params": params });
        let answer = self
            .rpc
            .call_text(context, request.to_string().as_bytes(), None)
            .await
            .unwrap();
        serde_json::from_slice(answer.as_bytes()).unwrap()
    }

    /// Calls a method as the owner and returns the result.
    pub async fn call(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(&self.context(&[]).await, method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Calls a method as the owner and returns the error's data with its code.
    pub async fn refusal(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(&self.context(&[]).await, method, params).await;
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"]["data"].clone()
    }
}
