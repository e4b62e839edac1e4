//! Opens a state like the next start after a power failure, and checks every promise.

use super::disk::Files;
use super::record::{Promise, What};
use crate::gateway::Server;
use crate::owner::PASSWORD;
use anyhow::{Context, Result, anyhow, bail, ensure};
use gatehouse_domain::{Actor, SystemClock, SystemRandom};
use gatehouse_secrets::{KdfQueue, Secrets, SecretsSettings};
use gatehouse_store::{DeliveryFilter, SecretTable, Store, StoreError};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// The contents of an opened vault: variables, and providers with a key.
type Opened = (HashMap<String, String>, HashSet<String>);
/// Opened vaults by a hash of the stored secrets. Opening a vault requires a run of Argon2id, and most states have
/// the same contents.
pub type OpenedVaults = Arc<Mutex<HashMap<[u8; 32], Arc<Opened>>>>;

/// A state of the disk and its moment in the trace.
pub struct State {
    /// The number of the state. All properties of the state derive from it.
    pub number: usize,
    /// Bytes of the trace before the failure.
    pub at: u64,
    /// Description for the output.
    pub described: String,
    pub files: Files,
    /// Whether the real binary opens the state first.
    pub by_binary: bool,
}

/// A worker that verifies states in its own directory.
pub struct Verifier {
    directory: PathBuf,
    promises: Arc<Vec<Promise>>,
    vaults: OpenedVaults,
    sqlite: Sqlite,
}

impl Verifier {
    pub fn new(
        directory: PathBuf,
        promises: Arc<Vec<Promise>>,
        vaults: OpenedVaults,
    ) -> Result<Self> {
        Ok(Self {
            directory,
            promises,
            vaults,
            sqlite: Sqlite::start()?,
        })
    }

    /// Checks a state. The error describes the problem.
    pub async fn check(&mut self, state: &State) -> Result<()> {
        if self.directory.exists() {
            std::fs::remove_dir_all(&self.directory)?;
        }
        std::fs::create_dir_all(&self.directory)?;
        for (path, bytes) in &state.files {
            let path = self.directory.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, bytes)?;
        }
        if state.by_binary {
            let server = Server::gateway(&self.directory, &[]).context("the real binary")?;
            server.kill()?;
        }
        let location = crate::prepare::location(&self.directory);
        let store = Store::open(&location)
            .await
            .context("opening the database")?;
        let checked = self.check_open(&store, state).await;
        store.close().await;
        checked?;
        self.sqlite.check(&self.directory.join("gatehouse.db"))
    }

    async fn check_open(&self, store: &Store, state: &State) -> Result<()> {
        let due = || {
            self.promises
                .iter()
                .filter(|promise| promise.at <= state.at)
        };
        let stored = deliveries(store).await?;
        for promise in due() {
            if let What::Delivery(id) = &promise.what {
                ensure!(
                    stored.contains(id),
                    "{id} was answered with 202 and does not exist"
                );
            }
        }
        if !due().any(|promise| matches!(promise.what, What::Setup)) {
            return Ok(());
        }
        let opened = self.open_vault(store).await.context("the vault")?;
        let (variables, providers) = &*opened;
        for promise in due() {
            match &promise.what {
                What::Variable(name, value) => ensure!(
                    variables.get(name) == Some(value),
                    "the variable {name} cannot be read"
                ),
                What::ProviderKey(id) => {
                    ensure!(providers.contains(id), "the key of {id} cannot be read");
                }
                What::Setup | What::Delivery(_) => {}
            }
        }
        Ok(())
    }

    async fn open_vault(&self, store: &Store) -> Result<Arc<Opened>> {
        let key = self.contents(store).await?;
        let known = |vaults: &OpenedVaults| {
            let vaults = vaults.lock().unwrap_or_else(PoisonError::into_inner);
            vaults.get(&key).cloned()
        };
        if let Some(opened) = known(&self.vaults) {
            return Ok(opened);
        }
        let secrets = Secrets::open(
            store.clone(),
            KdfQueue::new(1),
            Arc::new(SystemClock::new()),
            Arc::new(SystemRandom),
            SecretsSettings {
                vault_enabled: true,
                vault_enabled_fixed: false,
                plaintext_while_sealed: true,
                keep_plaintext_provider_keys: true,
                data_dir: self.directory.clone(),
            },
        )
        .await
        .map_err(|error| anyhow!("{error}"))?;
        let password = SecretString::from(PASSWORD);
        let unsealed = secrets.unseal_with_password(&Actor::cli(), &password).await;
        unsealed.map_err(|error| anyhow!("it does not open with the password: {error}"))?;
        let environment = secrets.environment().await;
        let environment = environment.map_err(|error| anyhow!("{error}"))?;
        if !environment.unreadable.is_empty() {
            bail!("{:?} cannot be read", environment.unreadable);
        }
        let variables = environment
            .variables
            .into_iter()
            .map(|(name, value)| (name, value.expose_secret().to_owned()))
            .collect();
        let providers = secrets.list_provider_keys().await;
        let providers = providers.map_err(|error| anyhow!("{error}"))?;
        let providers = providers.into_iter().map(|provider| provider.id).collect();
        let opened = Arc::new((variables, providers));
        let mut vaults = self.vaults.lock().unwrap_or_else(PoisonError::into_inner);
        vaults.insert(key, Arc::clone(&opened));
        Ok(opened)
    }

    /// Returns a hash of all data from which the vault's secrets are read.
    async fn contents(&self, store: &Store) -> Result<[u8; 32]> {
        let read = store.read(|conn| {
            Box::pin(async move {
                let mut all = vec![format!("{:?}", conn.find_vault().await?)];
                for table in SecretTable::ALL {
                    for row in conn.list_protected(table).await? {
                        all.push(format!(
                            "{table:?} {} {} {}",
                            row.id, row.value, row.encrypted
                        ));
                    }
                }
                Ok::<_, StoreError>(all)
            })
        });
        let mut hash = Sha256::new();
        for part in read.await? {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        for (path, bytes) in super::disk::read_directory(&self.directory)? {
            if !path.starts_with("gatehouse.db") && !path.contains("log") {
                hash.update(path.as_bytes());
                hash.update(bytes);
            }
        }
        Ok(hash.finalize().into())
    }
}

async fn deliveries(store: &Store) -> Result<HashSet<String>> {
    let read = store.read(|conn| {
        Box::pin(async move {
            let (mut all, mut filter) = (HashSet::new(), DeliveryFilter::default());
            loop {
                let page = conn.list_deliveries(&filter, 500).await?;
                all.extend(page.rows.into_iter().map(|row| row.id.as_str().to_owned()));
                match page.next {
                    Some(next) => filter.before = Some(next),
                    None => return Ok::<_, StoreError>(all),
                }
            }
        })
    });
    Ok(read.await?)
}

/// SQLite's command-line program. Used as a second check of the file's integrity.
struct Sqlite {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Sqlite {
    fn start() -> Result<Self> {
        let mut child = Command::new("sqlite3")
            .args(["-batch", "-list"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("no sqlite3, which checks each state: apt-get install sqlite3")?;
        let ask = child.stdin.take().context("no input")?;
        let answers = child.stdout.take().context("no output")?;
        Ok(Self {
            child,
            ask,
            answers: BufReader::new(answers),
        })
    }

    fn check(&mut self, file: &Path) -> Result<()> {
        let file = file.to_string_lossy();
        writeln!(
            self.ask,
            ".open '{file}'\nPRAGMA integrity_check;\nPRAGMA foreign_key_check;\n.print END"
        )?;
        let mut said = String::new();
        loop {
            let mut line = String::new();
            ensure!(self.answers.read_line(&mut line)? > 0, "sqlite3 has ended");
            if line.trim() == "END" {
                break;
            }
            said.push_str(&line);
        }
        ensure!(said.trim() == "ok", "integrity_check: {}", said.trim());
        Ok(())
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
