//! Runs the real server with the shim: setup with migrations, ingest, completions, a rotation of the vault's key, a
//! kill and a stop. Records each promise, and the length of the trace when it was made.

use super::disk::{self, Disk, Files};
use super::trace::Trace;
use crate::crash::sign;
use crate::gateway::Server;
use crate::http1::{Client, request};
use crate::owner::{Installation, PASSWORD, text};
use anyhow::{Context, Result, bail, ensure};
use axum::Router;
use axum::routing::post;
use gatehouse_store::{Store, migration_versions};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const CONNECTIONS: usize = 8;
/// Number of secrets before the rotation.
const SECRETS: usize = 12;

/// A promise, and the length of the trace when it was made.
#[derive(Clone, Debug)]
pub struct Promise {
    /// Length of the trace in bytes.
    pub at: u64,
    pub what: What,
}

/// The content of a promise.
#[derive(Clone, Debug)]
pub enum What {
    /// Setup was answered. From then on, an owner exists.
    Setup,
    /// A delivery was answered with 202.
    Delivery(String),
    /// A variable was stored.
    Variable(String, String),
    /// A provider's key was stored.
    ProviderKey(String),
}

/// The result of a recording.
pub struct Recording {
    /// Removes the directory on drop.
    _root: TempDir,
    pub data_dir: PathBuf,
    /// Contents of the data directory before the first start.
    pub base: Files,
    /// All changes in the data directory.
    pub trace: Trace,
    pub promises: Vec<Promise>,
}

/// A webhook that accepts deliveries.
struct Hook {
    public_id: String,
    secret: String,
}

/// The locations of the server and its recorder.
struct Site {
    installation: Installation,
    trace_file: PathBuf,
    promises: Vec<Promise>,
}

/// Compiles the shim with the C compiler that Rust uses for linking.
fn build_shim(folder: &Path) -> Result<PathBuf> {
    let (source, library) = (folder.join("shim.c"), folder.join("shim.so"));
    std::fs::write(&source, include_str!("shim.c"))?;
    let built = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source)
        .args(["-ldl", "-lpthread"])
        .status()
        .context("no C compiler: apt-get install gcc libc6-dev")?;
    ensure!(built.success(), "the recorder cannot be compiled: {built}");
    Ok(library)
}

/// Creates an earlier version's schema without rows, by running only the earlier migrations.
async fn make_earlier_schema(data_dir: &Path) -> Result<()> {
    let versions = migration_versions();
    let earlier = versions.get(versions.len() / 2).copied();
    std::fs::create_dir_all(data_dir)?;
    let store = Store::open_at(&crate::prepare::location(data_dir), earlier).await?;
    store.close().await;
    Ok(())
}

/// Starts a receiver for the messages of a channel.
async fn start_receiver() -> Result<SocketAddr> {
    let router = Router::new().route("/", post(|| async { "ok" }));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

/// Records one run. With `earlier`, the run begins with an older schema instead of an empty directory.
pub async fn record(deliveries: usize, earlier: bool) -> Result<Recording> {
    let root = tempfile::tempdir()?;
    let data_dir = root.path().join("data");
    std::fs::create_dir_all(&data_dir)?;
    if earlier {
        make_earlier_schema(&data_dir).await?;
    }
    let base = disk::read_directory(&data_dir)?;
    let trace_file = root.path().join("trace");
    let shim = build_shim(root.path())?;
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let environment = vec![
        ("LD_PRELOAD", shown(&shim)),
        ("GATEHOUSE_TRACE_DIR", shown(&data_dir.canonicalize()?)),
        ("GATEHOUSE_TRACE_FILE", shown(&trace_file)),
        (
            "SERVICE_WEBHOOKS__GLOBAL_RATE_LIMIT_PER_MINUTE",
            "1000000".to_owned(),
        ),
        ("SERVICE_WEBHOOKS__RETRY_BASE_MS", "100".to_owned()),
        (
            "SERVICE_MODELS__PROVIDERS__RECORDED__KIND",
            "openai".to_owned(),
        ),
        (
            "SERVICE_MODELS__PROVIDERS__RECORDED__BASE_URL",
            "https://recorded.example/v1".to_owned(),
        ),
    ];
    let (installation, server) = Installation::with_vault(&data_dir, &environment).await?;
    let mut site = Site {
        installation,
        trace_file,
        promises: Vec::new(),
    };
    site.promise(What::Setup)?;
    let hooks = site.prepare(&server).await?;
    let server = site.work(server, &hooks, deliveries).await?;
    server.stop()?;
    let trace = Trace::read(&site.trace_file)?;
    let recording = Recording {
        _root: root,
        data_dir,
        base,
        trace,
        promises: site.promises,
    };
    recording.ensure_complete()?;
    Ok(recording)
}

impl Site {
    /// Records a promise at the current length of the trace.
    fn promise(&mut self, what: What) -> Result<()> {
        let at = std::fs::metadata(&self.trace_file)?.len();
        self.promises.push(Promise { at, what });
        Ok(())
    }

    async fn set_variable(&mut self, server: &Server, name: String) -> Result<()> {
        let value = crate::prepare::secret("value-");
        let params = json!({ "key": name, "value": value });
        self.installation.rpc(server, "env.set", params).await?;
        self.promise(What::Variable(name, value))
    }

    /// Creates webhooks for the inbox and for a channel, and secrets.
    async fn prepare(&mut self, server: &Server) -> Result<Vec<Hook>> {
        let url = format!("http://{}/", start_receiver().await?);
        let account = json!({
            "type": "http", "id": "receiver", "label": "receiver", "fields": { "url": url },
        });
        self.installation
            .rpc(server, "channels.create", account)
            .await?;
        let mut hooks = Vec::new();
        for target in [Value::Null, "http:receiver".into()] {
            let mut params = json!({
                "name": "recorded", "source_profile": "codehost_a", "deliver_only": true,
                "rate_limit_per_minute": 1_000_000,
            });
            if let (Some(params), Value::String(_)) = (params.as_object_mut(), &target) {
                params.insert("deliver_to".to_owned(), target);
            }
            let made = self
                .installation
                .rpc(server, "webhooks.create", params)
                .await?;
            hooks.push(Hook {
                public_id: text(&made, "public_id")?,
                secret: text(&made, "secret")?,
            });
        }
        for number in 0..SECRETS {
            self.set_variable(server, format!("SECRET_{number}"))
                .await?;
        }
        let params = json!({ "id": "recorded", "key": "sk-recorded-0123456789" });
        self.installation
            .rpc(server, "providers.set_key", params)
            .await?;
        self.promise(What::ProviderKey("recorded".to_owned()))?;
        Ok(hooks)
    }

    /// Sends the deliveries in quarters: during a rotation, before a kill, after the kill, and after a regular
    /// stop.
    async fn work(&mut self, server: Server, hooks: &[Hook], deliveries: usize) -> Result<Server> {
        let each = deliveries.div_ceil(4);
        self.flood(&server, hooks, each, 1).await?;
        server.kill()?;
        let server = self.start_and_unlock().await?;
        let rotation = self.owner_call(&server, "/api/auth/vault/rotate");
        let rotated = tokio::spawn(rotation);
        self.flood(&server, hooks, each, 2).await?;
        rotated.await??;
        self.set_variable(&server, "AFTER_ROTATION".to_owned())
            .await?;
        self.flood(&server, hooks, each, 3).await?;
        server.stop()?;
        let server = self.start_and_unlock().await?;
        self.flood(&server, hooks, each, 4).await?;
        Ok(server)
    }

    async fn start_and_unlock(&self) -> Result<Server> {
        let server = self.installation.start()?;
        self.owner_call(&server, "/api/auth/vault/unlock").await?;
        Ok(server)
    }

    /// Makes an HTTP call to the vault with the password.
    fn owner_call(
        &self,
        server: &Server,
        path: &str,
    ) -> impl Future<Output = Result<()>> + Send + use<> {
        let body = json!({ "password": PASSWORD }).to_string();
        let ask = request(
            "POST",
            path,
            &[("cookie", self.installation.cookie())],
            Some(&body),
        );
        let (address, path) = (server.address, path.to_owned());
        async move {
            let mut client = Client::connect(address).await?;
            let answer = client.exchange(&ask).await?;
            answer.expect_ok().context(path)
        }
    }

    async fn flood(
        &mut self,
        server: &Server,
        hooks: &[Hook],
        deliveries: usize,
        round: usize,
    ) -> Result<()> {
        let mut tasks = JoinSet::new();
        for connection in 0..CONNECTIONS {
            let Some(hook) = hooks.get(connection % hooks.len().max(1)) else {
                bail!("there are no webhooks");
            };
            let path = format!("/api/webhooks/ingest/{}", hook.public_id);
            let (secret, trace_file) = (hook.secret.clone(), self.trace_file.clone());
            let mut client = server.connect().await?;
            tasks.spawn(async move {
                let mut promises = Vec::new();
                for number in 0..deliveries.div_ceil(CONNECTIONS) {
                    let key = format!("{round}-{connection}-{number}");
                    // The sizes are around the size of a page of the database.
                    let fill = "x".repeat(number * 997 % 9000);
                    let body = json!({ "ref": "refs/heads/main", "text": fill }).to_string();
                    let signature = sign(&secret, &body)?;
                    let headers = [
                        ("x-github-event", "push"),
                        ("x-hub-signature-256", signature.as_str()),
                        ("x-github-delivery", key.as_str()),
                    ];
                    let ask = request("POST", &path, &headers, Some(&body));
                    let answer = client.exchange(&ask).await?;
                    ensure!(answer.status == 202, "answered {}", answer.status);
                    let answer: Value = serde_json::from_slice(answer.body)?;
                    let what = What::Delivery(text(&answer, "delivery_id")?);
                    let at = std::fs::metadata(&trace_file)?.len();
                    promises.push(Promise { at, what });
                }
                anyhow::Ok(promises)
            });
        }
        while let Some(done) = tasks.join_next().await {
            self.promises.extend(done??);
        }
        Ok(())
    }
}

impl Recording {
    /// Checks that the trace reproduces the contents of the directory. If it does not, the recorder has missed a
    /// change, and the generated states are meaningless.
    fn ensure_complete(&self) -> Result<()> {
        let mut disk = Disk::begin(&self.trace.bytes, &self.data_dir, &self.base, None)?;
        for record in &self.trace.records {
            disk.apply(&record.change)?;
        }
        let random = gatehouse_domain::SeededRandom::new(1);
        let replayed = disk.cut(disk::Loss::Nothing, &random);
        let found = disk::read_directory(&self.data_dir)?;
        for path in found.keys().chain(replayed.keys()) {
            ensure!(
                found.get(path) == replayed.get(path),
                "the recorder missed a change of {path}: {:?} bytes are there, and {:?} were recorded",
                found.get(path).map(Vec::len),
                replayed.get(path).map(Vec::len)
            );
        }
        Ok(())
    }
}
