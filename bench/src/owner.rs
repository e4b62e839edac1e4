//! A gateway with an owner: set up once, then called over RPC. Used by the endurance runs.

use crate::gateway::{Server, binary};
use crate::http1::{Client, request};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The owner's password.
pub const PASSWORD: &str = "correct horse battery staple";

/// The data directory of a gateway that is set up, and its environment.
pub struct Installation {
    /// Removes the directory on drop. `None` if another value removes it.
    root: Option<TempDir>,
    data_dir: PathBuf,
    environment: Vec<(String, String)>,
    cookie: String,
    binary: PathBuf,
}

impl Installation {
    /// Sets up a gateway without a vault and stops it.
    pub async fn set_up(environment: &[(&str, String)]) -> Result<Self> {
        let root = tempfile::tempdir()?;
        let (mut installation, server) =
            Self::with_vault(&root.path().join("data"), environment).await?;
        installation.root = Some(root);
        installation.switch_off_vault(&server).await?;
        server.stop()?;
        Ok(installation)
    }

    /// Sets up a gateway with an unlocked vault in this data directory. The gateway keeps running.
    pub async fn with_vault(
        data_dir: &Path,
        environment: &[(&str, String)],
    ) -> Result<(Self, Server)> {
        Self::with_vault_by(&binary()?, data_dir, environment).await
    }

    /// Like [`Installation::with_vault`], with another binary of the gateway.
    pub async fn with_vault_by(
        binary: &Path,
        data_dir: &Path,
        environment: &[(&str, String)],
    ) -> Result<(Self, Server)> {
        let mut installation = Self {
            binary: binary.to_owned(),
            data_dir: data_dir.to_owned(),
            root: None,
            environment: environment
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            cookie: String::new(),
        };
        let server = installation.start()?;
        let body = json!({ "password": PASSWORD }).to_string();
        let mut client = server.connect().await?;
        let answer = client
            .exchange(&request("POST", "/api/auth/setup", &[], Some(&body)))
            .await?;
        answer.expect_ok()?;
        let session = answer.session_cookie().context("setup gave no session")?;
        installation.cookie = format!("service_session={session}");
        Ok((installation, server))
    }

    /// Returns the same home for another gateway on the same database with a separate data directory.
    pub fn beside(&self, data_dir: &Path) -> Self {
        Self {
            root: None,
            data_dir: data_dir.to_owned(),
            environment: self.environment.clone(),
            cookie: self.cookie.clone(),
            binary: self.binary.clone(),
        }
    }

    /// Changes the binary of later starts.
    pub fn set_binary(&mut self, binary: &Path) {
        binary.clone_into(&mut self.binary);
    }

    /// Changes a variable of the environment for later starts.
    pub fn set_environment(&mut self, name: &str, value: String) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value));
    }

    /// Turns off the vault. After a kill, the vault would be sealed, and the benchmark would have to enter the
    /// password.
    async fn switch_off_vault(&self, server: &Server) -> Result<()> {
        let place = ("POST", "/api/auth/vault/disable");
        self.call(server, place, Some(&json!({}))).await.map(drop)
    }

    /// Starts the gateway.
    pub fn start(&self) -> Result<Server> {
        let environment: Vec<(&str, &str)> = self
            .environment
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        Server::gateway_of(&self.binary, &self.data_dir, &environment)
    }

    /// Returns the owner's session as a value of the header `cookie`.
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Makes an HTTP request as the owner and returns its response, which must be a 200 with JSON.
    pub async fn call(
        &self,
        server: &Server,
        (method, path): (&str, &str),
        body: Option<&Value>,
    ) -> Result<Value> {
        let body = body.map(Value::to_string);
        let headers = [("cookie", self.cookie.as_str())];
        let ask = request(method, path, &headers, body.as_deref());
        let mut client = server.connect().await?;
        let answer = client.exchange(&ask).await?;
        answer.expect_ok()?;
        Ok(serde_json::from_slice(answer.body)?)
    }

    /// Makes an RPC call as the owner.
    pub async fn rpc(&self, server: &Server, method: &str, params: Value) -> Result<Value> {
        let mut client = server.connect().await?;
        self.rpc_on(&mut client, method, params).await
    }

    /// Like [`Installation::rpc`], on an open connection.
    pub async fn rpc_on(&self, client: &mut Client, method: &str, params: Value) -> Result<Value> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let headers = [("cookie", self.cookie.as_str())];
        let ask = request("POST", "/api/rpc", &headers, Some(&body.to_string()));
        let answer = client.exchange(&ask).await?;
        answer.expect_ok()?;
        let mut answer: Value = serde_json::from_slice(answer.body)?;
        if let Some(error) = answer.get("error") {
            bail!("{method}: {error}");
        }
        Ok(answer
            .get_mut("result")
            .map(Value::take)
            .unwrap_or_default())
    }
}

/// Returns the string with this name.
pub fn text(value: &Value, name: &str) -> Result<String> {
    let found = value.get(name).and_then(Value::as_str);
    Ok(found
        .with_context(|| format!("no {name} in {value}"))?
        .to_owned())
}
