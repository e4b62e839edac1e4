//! A test instance of the crate with its own database and a manual clock, and requests to it.

use gatehouse_auth::api::{LoginRequest, SetupRequest};
use gatehouse_auth::kdf_queue::KdfQueue;
use gatehouse_auth::{
    Auth, AuthError, AuthSettings, Caller, Decision, RequestContext, RequestFacts,
};
use gatehouse_domain::{
    Clock, ErrorCode, ManualClock, Problem, Random, Scope, SeededRandom, Timestamp,
};
use gatehouse_secrets::{Secrets, SecretsSettings};
use gatehouse_store::Store;
use gatehouse_store::testing::TestDatabase;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;

pub const PASSWORD: &str = "correct horse battery";
pub const HERE: &str = "127.0.0.1";
pub const AWAY: &str = "192.0.2.7";

pub struct Gate {
    pub auth: Auth,
    pub clock: Arc<ManualClock>,
    pub store: Store,
    pub database: TestDatabase,
    pub secrets: Secrets,
    pub kdf: KdfQueue,
    seed: u64,
    vault: bool,
}

async fn open_on(
    store: &Store,
    database: &TestDatabase,
    clock: &Arc<ManualClock>,
    seed: u64,
    vault_enabled: bool,
) -> (Auth, Secrets, KdfQueue) {
    let random: Arc<dyn Random> = Arc::new(SeededRandom::new(seed));
    let kdf = KdfQueue::new(2);
    let secrets = SecretsSettings {
        vault_enabled,
        vault_enabled_fixed: false,
        plaintext_while_sealed: true,
        keep_plaintext_provider_keys: true,
        data_dir: database.directory().to_owned(),
    };
    let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
    let secrets = Secrets::open(
        store.clone(),
        kdf.clone(),
        Arc::clone(&clock),
        Arc::clone(&random),
        secrets,
    );
    let secrets = secrets.await.unwrap();
    let settings = AuthSettings::default();
    let queue = kdf.clone();
    let auth = Auth::open(
        store.clone(),
        secrets.clone(),
        queue,
        clock,
        random,
        settings,
    )
    .await;
    (auth.unwrap(), secrets, kdf)
}

impl Gate {
    /// Creates an instance without a vault. Most tests need none, and each vault costs a key derivation.
    pub async fn on(database: TestDatabase) -> Self {
        Self::open(database, false).await
    }

    pub async fn open(database: TestDatabase, vault: bool) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_795_000_000_000)));
        let store = database.open().await;
        let (auth, secrets, kdf) = open_on(&store, &database, &clock, 1, vault).await;
        Self {
            auth,
            clock,
            store,
            database,
            secrets,
            kdf,
            seed: 1,
            vault,
        }
    }

    /// Creates an instance with completed setup. Returns it with the owner's cookie.
    pub async fn with_owner(database: TestDatabase) -> (Self, String) {
        let gate = Self::on(database).await;
        let outcome = gate.setup(HERE, PASSWORD, None).await.unwrap();
        let cookie = cookie_of(&outcome.cookies);
        (gate, cookie)
    }

    pub async fn restart(&mut self) {
        self.seed += 1;
        self.store.close().await;
        self.store = self.database.open().await;
        let opened = open_on(
            &self.store,
            &self.database,
            &self.clock,
            self.seed,
            self.vault,
        );
        (self.auth, self.secrets, self.kdf) = opened.await;
    }

    /// Starts another node on the same database.
    pub async fn second_node(&self) -> Auth {
        let store = self.database.open().await;
        open_on(
            &store,
            &self.database,
            &self.clock,
            self.seed + 1000,
            self.vault,
        )
        .await
        .0
    }

    pub fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub fn code(&self) -> Option<String> {
        self.auth.setup_code().borrow().clone()
    }

    pub async fn context(&self, peer: &str, credential: &str) -> RequestContext {
        context(&self.auth, peer, credential).await
    }

    pub async fn setup(
        &self,
        peer: &str,
        password: &str,
        code: Option<&str>,
    ) -> Result<gatehouse_auth::Outcome<gatehouse_auth::api::SetupAnswer>, AuthError> {
        let context = self.context(peer, "").await;
        let request = SetupRequest {
            password: Some(SecretString::from(password)),
            setup_code: code.map(SecretString::from),
        };
        self.auth.setup(&caller(&context), request).await
    }

    pub async fn login(
        &self,
        peer: &str,
        credential: &str,
        password: &str,
    ) -> Result<String, Problem> {
        let context = self.context(peer, credential).await;
        let request = LoginRequest {
            password: SecretString::from(password),
        };
        let outcome = self.auth.login(&caller(&context), request).await?;
        Ok(cookie_of(&outcome.cookies))
    }

    pub async fn is_let_in(&self, peer: &str, credential: &str) -> bool {
        self.context(peer, credential)
            .await
            .decision
            .identity()
            .is_some()
    }

    /// Creates a key with these scopes, using this session cookie.
    pub async fn key(&self, cookie: &str, scopes: &[Scope]) -> gatehouse_auth::api::ApiKeyCreated {
        let context = self.context(HERE, cookie).await;
        self.auth
            .create_api_key(&caller(&context), key_request(scopes))
            .await
            .unwrap()
    }
}

pub fn key_request(scopes: &[Scope]) -> gatehouse_auth::api::CreateApiKeyRequest {
    gatehouse_auth::api::CreateApiKeyRequest {
        label: "test".into(),
        scopes: scopes.to_vec(),
        expires_at: None,
        allowed_cidrs: None,
        only: None,
    }
}

/// Sends a credential that begins with `mk_` as a Bearer token, and any other as the session cookie.
pub async fn context(auth: &Auth, peer: &str, credential: &str) -> RequestContext {
    let mut headers = HeaderMap::new();
    let host = if peer == HERE {
        "localhost:8420"
    } else {
        "gate.example:8420"
    };
    headers.insert("host", HeaderValue::from_static(host));
    if credential.starts_with("mk_") {
        let value = format!("Bearer {credential}");
        headers.insert("authorization", HeaderValue::from_str(&value).unwrap());
    } else if !credential.is_empty() {
        let value = format!("service_session={credential}");
        headers.insert(
            HeaderName::from_static("cookie"),
            HeaderValue::from_str(&value).unwrap(),
        );
    }
    let facts = RequestFacts {
        method: &Method::GET,
        uri: &Uri::from_static("/api/auth/status"),
        headers: &headers,
        peer: peer.parse().unwrap(),
        over_tls: false,
    };
    auth.recognise(&facts).await.unwrap()
}

pub const fn caller(context: &RequestContext) -> Caller<'_> {
    Caller {
        context,
        user_agent: Some("test"),
    }
}

pub fn cookie_of(cookies: &[String]) -> String {
    let line = cookies.first().expect("a cookie");
    let value = line.strip_prefix("service_session=").unwrap();
    value.split(';').next().unwrap().to_owned()
}

pub fn row_of(decision: &Decision) -> &'static str {
    match decision {
        Decision::Allowed(identity) => identity.method.name(),
        Decision::SetupRequired => "SetupRequired",
        Decision::Unauthorized => "Unauthorized",
    }
}

pub fn code_of<T>(outcome: Result<T, impl Into<Problem>>) -> Option<ErrorCode> {
    outcome.err().map(|error| error.into().code)
}
