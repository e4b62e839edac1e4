//! Agents with tools, and servers for the tools to call.

use axum::Router;
use gatehouse_agents::{
    Agents, AgentsParts, AgentsSettings, Audience, NewAttachment, ReturnedFiles, ToolContext,
    ToolError,
};
use gatehouse_domain::id::{SessionId, TurnId};
use gatehouse_domain::{Actor, Clock, Random, SystemClock, SystemRandom};
use gatehouse_models::{Models, ModelsParts, ModelsSettings};
use gatehouse_outbound::{Outbound, OutboundSettings};
use gatehouse_secrets::{KdfQueue, Secrets, SecretsSettings};
use gatehouse_store::testing::{TestDatabase, sqlite};
use gatehouse_store::{AuditPage, AuditRow, Store, StoreError};
use gatehouse_tools::{ToolsHandle, ToolsParts, ToolsSettings, register};
use secrecy::SecretString;
use serde_json::Value;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

/// Agents with tools. Uses SQLite only: nothing here depends on the database engine.
pub struct Harness {
    pub agents: Agents,
    pub secrets: Secrets,
    pub tools: ToolsHandle,
    pub stop: CancellationToken,
    pub tasks: TaskTracker,
    store: Store,
    database: TestDatabase,
}

impl Harness {
    /// `allow_private` allows calls to private addresses.
    pub async fn open(allow_private: bool, settings: ToolsSettings) -> Self {
        Self::on(sqlite(), allow_private, settings).await
    }

    pub async fn on(database: TestDatabase, allow_private: bool, settings: ToolsSettings) -> Self {
        let store = database.open().await;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let random: Arc<dyn Random> = Arc::new(SystemRandom);
        let outbound = Outbound::new(OutboundSettings { allow_private }).unwrap();
        let secret_settings = SecretsSettings {
            vault_enabled: true,
            vault_enabled_fixed: false,
            plaintext_while_sealed: true,
            keep_plaintext_provider_keys: true,
            data_dir: database.directory().to_owned(),
        };
        let (kdf, c, r) = (KdfQueue::new(1), clock.clone(), random.clone());
        let secrets = Secrets::open(store.clone(), kdf, c, r, secret_settings);
        let secrets = secrets.await.unwrap();
        let models = ModelsParts {
            secrets: secrets.clone(),
            outbound: outbound.clone(),
            clock: clock.clone(),
            random: random.clone(),
        };
        let parts = AgentsParts {
            store: store.clone(),
            models: Models::new(models, ModelsSettings::default()),
            clock: clock.clone(),
            random: random.clone(),
            tracer: gatehouse_domain::trace::Tracer::default(),
        };
        let agents = Agents::open(parts, AgentsSettings::default())
            .await
            .unwrap();
        let parts = ToolsParts {
            secrets: secrets.clone(),
            outbound,
            store: store.clone(),
            clock,
            random,
        };
        Self {
            tools: register(&agents, parts, settings),
            agents,
            secrets,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            store,
            database,
        }
    }

    /// Calls a tool as a trusted turn does.
    pub async fn call(&self, tool: &str, input: Value) -> Result<String, ToolError> {
        self.call_as(Audience::Trusted, tool, input).await
    }

    pub async fn call_as(
        &self,
        ceiling: Audience,
        tool: &str,
        input: Value,
    ) -> Result<String, ToolError> {
        let tool = self.agents.tools().find(tool).expect("no such tool");
        tool.call(&context(ceiling), input).await
    }

    /// Calls a tool as a trusted turn does. Returns the answer and the files.
    pub async fn call_for_files(
        &self,
        tool: &str,
        input: Value,
    ) -> (Result<String, ToolError>, Vec<NewAttachment>) {
        let tool = self.agents.tools().find(tool).expect("no such tool");
        let context = context(Audience::Trusted);
        let answer = tool.call(&context, input).await;
        (answer, context.files.take())
    }

    /// Returns the error message of a failing call.
    pub async fn refusal(&self, tool: &str, input: Value) -> String {
        self.call(tool, input).await.unwrap_err().message
    }

    pub async fn set_variable(&self, key: &str, value: &str) {
        let value = SecretString::from(value);
        let actor = Actor::cli();
        let set = self
            .secrets
            .set_env_variable(&actor, key, value, None)
            .await;
        set.unwrap();
    }

    /// Returns the names of all tools.
    pub fn names(&self) -> Vec<String> {
        let tools = self.agents.tools().all();
        tools.iter().map(|tool| tool.name().to_owned()).collect()
    }

    pub fn background(&self) {
        self.tools.background(self.stop.clone(), &self.tasks);
    }

    /// Stops everything and waits for it.
    pub async fn stop(self) {
        drop(self.closed().await);
    }

    /// Stops everything and returns the database.
    pub async fn closed(self) -> TestDatabase {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.store.close().await;
        self.database
    }

    /// Returns the audit rows of a kind, oldest first.
    pub async fn audit(&self, kind: &str) -> Vec<Value> {
        let page = AuditPage {
            before_seq: i64::MAX,
            kind: Some(kind.to_owned()),
            limit: 100,
            ..gatehouse_store::AuditPage::default()
        };
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.list_audit(&page).await }));
        let rows: Result<Vec<AuditRow>, StoreError> = read.await;
        let rows = rows.unwrap().into_iter().rev();
        rows.map(|row| serde_json::from_str(&row.detail).unwrap())
            .collect()
    }
}

/// Serves on a port of 127.0.0.1 while the test runs.
#[expect(
    clippy::disallowed_methods,
    reason = "a fake vendor ends with its test's runtime"
)]
pub async fn serve(router: Router) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    Url::parse(&format!("http://{address}")).unwrap()
}

fn context(ceiling: Audience) -> ToolContext {
    ToolContext {
        session: SessionId::from_text("ses_1"),
        turn: TurnId::from_text("turn_1"),
        actor: Actor::system(),
        ceiling,
        cancel: CancellationToken::new(),
        files: ReturnedFiles::default(),
    }
}
