//! The crate on a real database and a real data directory.

use crate::vendor::Vendor;
use futures_util::StreamExt;
use gatehouse_domain::{Actor, Clock, ManualClock, Random, SystemRandom, Timestamp};
use gatehouse_models::{
    ChatMessage, ChatRequest, Chunk, ModelError, ModelRef, Models, ModelsParts, ModelsSettings,
    ProviderKind, ProviderSettings, StopReason, ToolCall, Tuning, Usage,
};
use gatehouse_outbound::{Outbound, OutboundSettings};
use gatehouse_secrets::{KdfQueue, Secrets, SecretsSettings};
use gatehouse_store::testing::{TestDatabase, sqlite};
use secrecy::SecretString;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

pub struct Harness {
    pub secrets: Secrets,
    pub clock: Arc<ManualClock>,
    database: TestDatabase,
}

/// 2026-11-20.
pub const START: Timestamp = Timestamp::from_millis(1_795_132_800_000);

impl Harness {
    /// Opens the crate without a vault.
    pub async fn new() -> Self {
        Self::with_vault(false).await
    }

    pub async fn with_vault(vault_enabled: bool) -> Self {
        let database = sqlite();
        let clock = Arc::new(ManualClock::at(START));
        let secrets = open_secrets(&database, &clock, vault_enabled).await;
        Self {
            secrets,
            clock,
            database,
        }
    }

    /// Simulates a restart, after which encrypted values are sealed.
    pub async fn restart(&mut self) {
        self.secrets = open_secrets(&self.database, &self.clock, true).await;
    }

    pub fn models(&self, settings: ModelsSettings) -> Models {
        self.models_with(settings, tuning())
    }

    pub fn models_with(&self, settings: ModelsSettings, tuning: Tuning) -> Models {
        let parts = ModelsParts {
            secrets: self.secrets.clone(),
            outbound: Outbound::new(OutboundSettings::default()).unwrap(),
            clock: self.clock.clone(),
            random: Arc::new(SystemRandom),
        };
        Models::with_tuning(parts, settings, tuning)
    }

    pub async fn store_key(&self, id: &str, key: &str, base_url: &str) {
        let key = SecretString::from(key);
        self.secrets
            .set_provider_key(&Actor::cli(), id, key, ("openai", base_url))
            .await
            .unwrap();
    }
}

async fn open_secrets(
    database: &TestDatabase,
    clock: &Arc<ManualClock>,
    vault_enabled: bool,
) -> Secrets {
    let clock: Arc<dyn Clock> = clock.clone();
    let random: Arc<dyn Random> = Arc::new(SystemRandom);
    let settings = SecretsSettings {
        vault_enabled,
        vault_enabled_fixed: false,
        plaintext_while_sealed: true,
        keep_plaintext_provider_keys: false,
        data_dir: database.directory().to_owned(),
    };
    let store = database.open().await;
    Secrets::open(store, KdfQueue::new(2), clock, random, settings)
        .await
        .unwrap()
}

/// No delay between attempts, and no detection of local servers.
pub fn tuning() -> Tuning {
    let mut tuning = Tuning {
        local: None,
        ..Tuning::default()
    };
    tuning.timeouts.retry_base = Duration::ZERO;
    tuning
}

/// Returns one provider `p` with the key `sk-test`.
pub fn one(kind: ProviderKind, base_url: &Url) -> ModelsSettings {
    let mut settings = ModelsSettings::default();
    settings
        .providers
        .insert("p".to_owned(), provider(kind, base_url, Some("sk-test")));
    settings
}

pub fn provider(kind: ProviderKind, base_url: &Url, key: Option<&str>) -> ProviderSettings {
    ProviderSettings {
        api_key: key.map(SecretString::from),
        ..ProviderSettings::new(kind, base_url.clone())
    }
}

/// Returns the model `m` of the provider `p`.
pub fn model() -> ModelRef {
    model_of("p", "m")
}

pub fn model_of(provider: &str, model: &str) -> ModelRef {
    ModelRef {
        provider: provider.to_owned(),
        model: model.to_owned(),
    }
}

pub fn user(text: &str) -> ChatMessage {
    ChatMessage::user(text)
}

pub fn hello() -> ChatRequest {
    ChatRequest {
        messages: vec![user("Hello")],
        ..ChatRequest::default()
    }
}

pub fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    }
}

/// A whole answer.
#[derive(Debug, Default, PartialEq)]
pub struct Collected {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub reasoning: String,
    pub state: Option<Value>,
    pub end: Option<(Usage, StopReason)>,
}

/// Reads the answer up to its end or an error.
pub async fn listen(
    models: &Models,
    model: &ModelRef,
    request: ChatRequest,
) -> (Collected, Option<ModelError>) {
    let mut collected = Collected::default();
    let mut stream = match models.chat(model, request).await {
        Ok(stream) => stream,
        Err(error) => return (collected, Some(error)),
    };
    while let Some(item) = stream.next().await {
        assert!(collected.end.is_none(), "something after the end");
        match item {
            Ok(Chunk::Text(text)) => {
                assert!(!text.is_empty());
                collected.text.push_str(&text);
            }
            Ok(Chunk::Reasoning(text)) => {
                assert!(!text.is_empty());
                collected.reasoning.push_str(&text);
            }
            Ok(Chunk::State(state)) => assert!(collected.state.replace(state).is_none()),
            Ok(Chunk::ToolCall(call)) => collected.calls.push(call),
            Ok(Chunk::End { usage, stop }) => collected.end = Some((usage, stop)),
            Err(error) => {
                assert!(stream.next().await.is_none(), "something after an error");
                return (collected, Some(error));
            }
        }
    }
    (collected, None)
}

/// Returns a whole answer, which must succeed.
pub async fn collected(models: &Models, request: ChatRequest) -> Collected {
    let (collected, error) = listen(models, &model(), request).await;
    assert!(error.is_none(), "{error:?}");
    assert!(collected.end.is_some());
    collected
}

/// Sends a conversation to one provider of this kind.
pub async fn ask(kind: ProviderKind, vendor: &Vendor) -> (Collected, Option<ModelError>) {
    let harness = Harness::new().await;
    listen(&harness.models(one(kind, &vendor.url)), &model(), hello()).await
}

pub fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    }
}
