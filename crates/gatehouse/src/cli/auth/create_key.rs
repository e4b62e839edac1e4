//! `auth create-key`: creates an API key on a running server, or on the data directory of a stopped one.

use crate::cli::client::{Client, Refusal};
use crate::cli::globals::Globals;
use crate::cli::output::{Output, line, note, precious};
use crate::cli::{key_file, offline, prompt};
use anyhow::{Context, Result, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser};
use gatehouse::Gateway;
use gatehouse_auth::api::CreateApiKeyRequest;
use gatehouse_config::Layers;
use gatehouse_domain::{Cidr, Problem, Scope, Timestamp};
use secrecy::SecretString;
use serde_json::{Value, json};

/// `gatehouse auth create-key`
#[derive(Debug, clap::Args)]
pub struct CreateKey {
    /// What the key is for
    #[arg(long, default_value = "command line")]
    label: String,
    /// What the key may do; may be repeated [default: operator.admin, or the scopes of the preset]
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<Scope>,
    /// A key for one purpose: sets its scopes and the methods and paths it may call
    #[arg(long, value_name = "PURPOSE", value_parser = presets(), conflicts_with = "only")]
    preset: Option<String>,
    /// Methods and paths the key may call, such as `tts.*` or `/v1/audio/*`; may be repeated
    #[arg(long, value_name = "PATTERN")]
    only: Vec<String>,
    /// When the key expires, such as 2027-01-31T00:00:00Z
    #[arg(long, value_name = "TIME")]
    expires_at: Option<Timestamp>,
    /// Networks the key may be used from
    #[arg(long = "allow-cidr", value_name = "CIDR")]
    allowed_cidrs: Vec<Cidr>,
    /// Store the key for later commands, readable only by you
    #[arg(long, conflicts_with = "no_store")]
    store: bool,
    /// Do not store the key, and do not ask whether to store it
    #[arg(long)]
    no_store: bool,
}

fn presets() -> PossibleValuesParser {
    let presets = gatehouse_web::targets().presets.into_iter();
    PossibleValuesParser::new(
        presets.map(|preset| PossibleValue::new(preset.id).help(preset.summary)),
    )
}

impl CreateKey {
    /// Builds the request, with the scopes and limits of the preset.
    fn into_request(self) -> CreateApiKeyRequest {
        let mut presets = gatehouse_web::targets().presets.into_iter();
        let preset = presets.find(|preset| self.preset.as_deref() == Some(preset.id));
        let (scopes, only) = match preset {
            Some(preset) => {
                let only = preset.only.into_iter().map(str::to_owned).collect();
                (preset.scopes.iter().collect(), only)
            }
            None => (vec![Scope::Admin], self.only),
        };
        CreateApiKeyRequest {
            label: self.label,
            scopes: if self.scopes.is_empty() {
                scopes
            } else {
                self.scopes
            },
            expires_at: self.expires_at,
            allowed_cidrs: Some(self.allowed_cidrs).filter(|list| !list.is_empty()),
            only: Some(only).filter(|list: &Vec<String>| !list.is_empty()),
        }
    }
}

/// Returns the body of `POST /api/auth/api-keys`.
fn body_of(request: &CreateApiKeyRequest) -> Value {
    let mut body = json!({ "label": request.label, "scopes": request.scopes });
    let optional = [
        ("expires_at", request.expires_at.map(|at| json!(at))),
        (
            "allowed_cidrs",
            request.allowed_cidrs.as_ref().map(|list| json!(list)),
        ),
        ("only", request.only.as_ref().map(|list| json!(list))),
    ];
    if let Some(fields) = body.as_object_mut() {
        for (name, value) in optional {
            fields.extend(value.map(|value| (name.to_owned(), value)));
        }
    }
    body
}

/// Creates the key, prints it, and stores it for later commands if the user wants that.
pub async fn run(globals: &Globals, layers: &Layers, out: &Output, args: CreateKey) -> Result<()> {
    let (store, no_store) = (args.store, args.no_store);
    let request = args.into_request();
    let gateway = if globals.given_url(layers)?.is_some() {
        None
    } else {
        offline::gateway_or_new(globals, layers).await?
    };
    let created = match gateway {
        Some(gateway) => {
            let created = create_offline(&gateway, layers, request).await;
            gateway.close().await;
            created?
        }
        None => create_online(globals, layers, &body_of(&request)).await?,
    };
    let key = created
        .get("key")
        .and_then(Value::as_str)
        .context("the response contains no key")?;
    out.record(&created, || line(precious(key)))?;
    if !globals.json {
        note("Save the key now: it is not shown again.");
    }
    let wanted = store
        || !no_store
            && !globals.json
            && prompt::is_interactive()
            && prompt::yes("Store it for later commands, readable only by you?")?;
    if wanted {
        let path = key_file::store(layers, &SecretString::from(key))?;
        note(format!("Stored in {}.", path.display()));
    }
    Ok(())
}

const QUESTION: &str = "Password";

async fn create_offline(
    gateway: &Gateway,
    layers: &Layers,
    request: CreateApiKeyRequest,
) -> Result<Value> {
    let auth = &gateway.services.auth;
    let password = if auth.facts().has_password {
        prompt::password(QUESTION, layers.process().password_file.as_deref())?
    } else {
        SecretString::default()
    };
    let created = auth
        .offline_create_key(&password, request)
        .await
        .map_err(|error| Refusal::from(Problem::from(error)))?;
    Ok(serde_json::to_value(created)?)
}

async fn create_online(globals: &Globals, layers: &Layers, body: &Value) -> Result<Value> {
    let path = "/api/auth/api-keys";
    if globals.api_key.is_some() || layers.process().api_key.is_some() {
        return Ok(Client::new(globals, layers)?.post(path, body).await?);
    }
    let client = Client::anonymous(globals, layers)?;
    let status = client.get("/api/auth/status").await?;
    let is = |name: &str| status.get(name) == Some(&Value::Bool(true));
    if is("authenticated") {
        return Ok(client.post(path, body).await?);
    }
    ensure!(
        is("has_password"),
        "there is no password to log in with: create the key in the web UI, under Security"
    );
    let password = prompt::password(QUESTION, layers.process().password_file.as_deref())?;
    let token = client
        .login(&password)
        .await?
        .context("the server returned no session")?;
    let client = client.with_session(&token);
    let created = client.post(path, body).await;
    // The session was only for this request. If the logout fails, the session expires.
    drop(client.post("/api/auth/logout", &json!({})).await);
    Ok(created?)
}
