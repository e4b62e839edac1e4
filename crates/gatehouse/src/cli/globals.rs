//! The global flags and the settings derived from them.

use super::usage;
use anyhow::Result;
use gatehouse_config::{DatabaseUrl, Environment, Invocation, Layers, Settings, Tls};
use reqwest::Url;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// The flags that every command accepts.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub struct Globals {
    /// Print the record as JSON
    #[arg(long, global = true)]
    pub json: bool,
    #[arg(
        long,
        global = true,
        value_name = "URL",
        help = "URL of the server [env: SERVICE_URL]"
    )]
    pub url: Option<Url>,
    #[arg(
        long,
        global = true,
        value_name = "KEY",
        help = "API key for the server [env: SERVICE_API_KEY]"
    )]
    pub api_key: Option<SecretString>,
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help = "Data directory [env: SERVICE_DATA_DIR]"
    )]
    pub data_dir: Option<PathBuf>,
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "Settings file [env: SERVICE_CONFIG]"
    )]
    pub config: Option<PathBuf>,
    #[arg(
        long,
        global = true,
        value_name = "URL",
        help = "Database, sqlite://… or postgres://… [env: SERVICE_DATABASE_URL]"
    )]
    pub database_url: Option<DatabaseUrlText>,
    #[arg(
        long,
        global = true,
        value_name = "ADDR",
        help = "Address and port to listen on [default: 127.0.0.1:8420]"
    )]
    pub bind: Option<String>,
}

/// A database URL. Hidden from debug output because it may contain a password.
#[derive(Clone)]
pub struct DatabaseUrlText(String);

impl DatabaseUrlText {
    /// Parses the URL. Errors do not quote it.
    pub fn parse(&self) -> Result<DatabaseUrl> {
        let parsed = self.0.parse::<DatabaseUrl>();
        parsed.map_err(|error| usage::wrong(error.to_string()))
    }
}

impl From<String> for DatabaseUrlText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl std::fmt::Debug for DatabaseUrlText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DatabaseUrlText(…)")
    }
}

impl Globals {
    /// Loads the settings from flags, environment and file.
    pub fn layers(&self) -> Result<Layers> {
        self.layers_of(&Environment::from_process())
    }

    /// Does the same as [`Self::layers`], but reads the variables from `environment`.
    pub fn layers_of(&self, environment: &Environment) -> Result<Layers> {
        let invocation = Invocation {
            config: self.config.clone(),
            data_dir: self.data_dir.clone(),
            bind: self.bind.clone(),
            database_url: self.database_url.as_ref().map(|url| url.0.clone()),
        };
        Ok(Layers::load(environment, &invocation)?)
    }

    /// Returns the flags with a different database.
    pub fn with_database(&self, url: &DatabaseUrlText) -> Self {
        Self {
            database_url: Some(url.clone()),
            ..self.clone()
        }
    }

    /// Returns the server's address, if a flag or the environment contains one.
    pub fn given_url(&self, layers: &Layers) -> Result<Option<Url>> {
        let url = self.url.clone().or_else(|| layers.process().url.clone());
        if let Some(url) = &url {
            let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
            usage::ensure(
                is_web,
                "the server's URL must begin with http:// or https://",
            )?;
        }
        Ok(url)
    }

    /// Returns the server's address: the given one, otherwise the listen address from the settings.
    pub fn server_url(&self, layers: &Layers) -> Result<Url> {
        match self.given_url(layers)? {
            Some(url) => Ok(url),
            None => Ok(Url::parse(&own_url(
                &layers.resolve(&BTreeMap::new())?.settings,
            ))?),
        }
    }
}

/// Returns the address that commands on this machine connect to.
pub fn own_address(settings: &Settings) -> SocketAddr {
    let mut address = settings.server.bind;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(_) => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16]),
        });
    }
    address
}

fn own_url(settings: &Settings) -> String {
    let address = own_address(settings);
    match &settings.server.tls {
        Tls::Off => format!("http://{address}"),
        // A certificate authority issues certificates for names, not for this address.
        Tls::Acme(acme) if let Some(name) = acme.domains.first() => {
            format!("https://{name}:{}", address.port())
        }
        Tls::Acme(_) | Tls::Files { .. } | Tls::SelfSigned => format!("https://{address}"),
    }
}
