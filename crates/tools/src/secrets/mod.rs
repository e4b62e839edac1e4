//! Stored secrets in a request of `web_fetch` or to an MCP server. `{{secret:NAME}}` stands for an environment variable
//! in the vault, where `tools.secrets` allows the host. The model does not see the value, even if the response repeats
//! it.

use arc_swap::ArcSwap;
use gatehouse_agents::{Audience, ToolError};
use gatehouse_config::ToolSecret;
use gatehouse_domain::is_connection_header;
use gatehouse_secrets::{SecretKind, Secrets, Status};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use url::{Host, Url};

pub(crate) use gatehouse_secrets::Redactor;

const OPEN: &str = "{{secret:";
const CLOSE: &str = "}}";
/// The shortest value that is sent. A shorter one could not be removed from a response without damaging it.
pub(crate) const MIN_BYTES: usize = 8;
/// Headers that the client sets.
const RESERVED: [&str; 2] = ["accept-encoding", "user-agent"];

/// The secrets that requests may contain.
#[derive(Clone)]
pub(crate) struct RequestSecrets {
    secrets: Secrets,
    allowed: Arc<ArcSwap<Vec<ToolSecret>>>,
}

/// A request that may name secrets.
pub(crate) struct Request<'a> {
    pub(crate) url: Url,
    pub(crate) headers: &'a BTreeMap<String, String>,
}

/// A request with the values of its secrets.
pub(crate) struct Filled {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// Whether the request contains secrets.
    pub(crate) has_secrets: bool,
    /// Removes all secrets that requests may contain: the answer may repeat one of an earlier request.
    pub(crate) redactor: Redactor,
    /// Whether all of them could be read. Otherwise answers of their hosts must not be used.
    pub(crate) is_complete: bool,
}

/// Replaces each value by its name, as `{{secret:NAME}}`.
pub(crate) fn by_name(values: &[(String, SecretString)]) -> Redactor {
    let place = |name: &str| format!("{OPEN}{name}{CLOSE}");
    let values = values.iter();
    Redactor::new(values.map(|(name, value)| (place(name), value.expose_secret())))
}

impl RequestSecrets {
    pub(crate) fn new(secrets: Secrets, allowed: Vec<ToolSecret>) -> Self {
        Self {
            secrets,
            allowed: Arc::new(ArcSwap::from_pointee(allowed)),
        }
    }

    pub(crate) fn allow(&self, allowed: Vec<ToolSecret>) {
        self.allowed.store(Arc::new(allowed));
    }

    /// The allowed secrets with their hosts, for the model. `None` if there are none.
    pub(crate) fn listed(&self) -> Option<String> {
        let allowed = self.allowed.load();
        let each = allowed.iter();
        let listed = each.map(|secret| format!("{OPEN}{}{CLOSE} for {}", secret.name, secret.host));
        (!allowed.is_empty()).then(|| listed.collect::<Vec<_>>().join(", "))
    }

    /// Replaces the names of secrets in the headers and in the path and query of the URL.
    pub(crate) async fn fill(
        &self,
        request: Request<'_>,
        ceiling: Audience,
    ) -> Result<Filled, ToolError> {
        let Request { mut url, headers } = request;
        let path = braces(url.path()).into_owned();
        let query = url.query().map(|query| braces(query).into_owned());
        let mut names = BTreeSet::new();
        for text in headers.values().chain([&path]).chain(&query) {
            names_in(text, &mut names)?;
        }
        self.permit(&names, &url, ceiling)?;
        let (known, is_complete) = self.known(&names, &url).await?;
        let values = self.pick(&names, &known)?;
        if names_secrets(&path) {
            url.set_path(&replace(&path, &values, percent_encoded));
        }
        if let Some(query) = query.filter(|query| names_secrets(query)) {
            url.set_query(Some(&replace(&query, &values, percent_encoded)));
        }
        let headers = headers
            .iter()
            .map(|(name, text)| header(name, &replace(text, &values, str::to_owned)));
        Ok(Filled {
            url,
            headers: headers.collect::<Result<_, _>>()?,
            has_secrets: !names.is_empty(),
            redactor: by_name(&removable(known)),
            is_complete,
        })
    }

    /// Refuses names of secrets that may not be sent.
    fn permit(
        &self,
        names: &BTreeSet<String>,
        url: &Url,
        ceiling: Audience,
    ) -> Result<(), ToolError> {
        if names.is_empty() {
            return Ok(());
        }
        // A stranger could otherwise act with the owner's rights.
        if ceiling < Audience::Trusted {
            return Err(ToolError::new(
                "Secrets cannot be used in a conversation that contains untrusted text.",
            ));
        }
        let host = url.authority();
        if url.scheme() != "https" && !is_loopback(url) {
            return Err(ToolError::new("Secrets are sent over https only."));
        }
        let allowed = self.allowed.load();
        let is_allowed = |name: &str| allowed.iter().any(|it| it.name == name && it.host == host);
        match names.iter().find(|name| !is_allowed(name)) {
            Some(name) => Err(ToolError::new(format!(
                "The secret {name} may not be sent to {host}. The owner lists the allowed hosts in tools.secrets."
            ))),
            None => Ok(()),
        }
    }

    /// Whether a secret may be sent to a host.
    pub(crate) fn may_know(&self, url: &Url) -> bool {
        let allowed = self.allowed.load();
        allowed.iter().any(|it| it.host == url.authority())
    }

    /// Returns the values of the secrets that requests may contain, and whether all could be read. Fails if an
    /// unreadable secret is named in the request or may be sent to the host.
    async fn known(
        &self,
        names: &BTreeSet<String>,
        url: &Url,
    ) -> Result<(Vec<(String, SecretString)>, bool), ToolError> {
        let allowed = self.allowed.load_full();
        if allowed.is_empty() {
            return Ok((Vec::new(), true));
        }
        let is_missed = |name: &str| {
            let at_host = |it: &ToolSecret| it.name == name && it.host == url.authority();
            names.contains(name) || allowed.iter().any(at_host)
        };
        let unreadable = || match self.secrets.status() {
            Status::Sealed => ToolError::new("The vault is sealed, so secrets cannot be used."),
            _ => ToolError::new("The secret cannot be read."),
        };
        let environment = match self.secrets.environment().await {
            Ok(environment) => environment,
            Err(error) => {
                tracing::debug!(%error, "the secrets for tools cannot be read");
                let is_missed = allowed.iter().any(|it| is_missed(&it.name));
                return if is_missed {
                    Err(unreadable())
                } else {
                    Ok((Vec::new(), false))
                };
            }
        };
        if environment.unreadable.iter().any(|name| is_missed(name)) {
            return Err(unreadable());
        }
        let is_allowed = |name: &str| allowed.iter().any(|it| it.name == name);
        let is_complete = !environment.unreadable.iter().any(|name| is_allowed(name));
        let mut known = environment.variables;
        known.retain(|(name, _)| is_allowed(name));
        Ok((known, is_complete))
    }

    /// The values of the named secrets.
    fn pick(
        &self,
        names: &BTreeSet<String>,
        known: &[(String, SecretString)],
    ) -> Result<Vec<(String, SecretString)>, ToolError> {
        let mut values = Vec::with_capacity(names.len());
        for name in names {
            let Some((_, value)) = known.iter().find(|(key, _)| key == name) else {
                let message = format!("There is no secret {name} in the vault.");
                return Err(ToolError::new(message));
            };
            if !is_removable(value) {
                return Err(ToolError::new(format!(
                    "The secret {name} is shorter than {MIN_BYTES} bytes, so it is not sent."
                )));
            }
            self.secrets.note_use(SecretKind::Env, name);
            values.push((name.clone(), value.clone()));
        }
        Ok(values)
    }
}

fn is_removable(value: &SecretString) -> bool {
    value.expose_secret().len() >= MIN_BYTES
}

fn removable(mut values: Vec<(String, SecretString)>) -> Vec<(String, SecretString)> {
    values.retain(|(_, value)| is_removable(value));
    values
}

impl fmt::Debug for RequestSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestSecrets").finish_non_exhaustive()
    }
}

/// Whether a text, or a part of a URL, names secrets.
pub(crate) fn names_secrets(text: &str) -> bool {
    braces(text).contains(OPEN)
}

/// The text with the braces that a URL's path has in percent-encoding.
fn braces(text: &str) -> Cow<'_, str> {
    if text.contains("%7B%7B") {
        Cow::Owned(text.replace("%7B%7B", "{{").replace("%7D%7D", "}}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The secrets that the path and the query of a URL and the values of headers name. A name without an end is left out.
pub(crate) fn named_secrets<'t>(
    url: &Url,
    headers: impl Iterator<Item = &'t str>,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    // The error is shown when the text is sent.
    let mut note = |text: &str| drop(names_in(text, &mut names));
    note(&braces(url.path()));
    if let Some(query) = url.query() {
        note(&braces(query));
    }
    for value in headers {
        note(value);
    }
    names
}

fn names_in(text: &str, names: &mut BTreeSet<String>) -> Result<(), ToolError> {
    for after in text.split(OPEN).skip(1) {
        let name = after.split_once(CLOSE).map(|(name, _)| name);
        let is_name = |name: &&str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let name = name.filter(is_name).ok_or_else(|| {
            ToolError::new(
                "A secret is named like this: {{secret:NAME}}, with letters, digits and _.",
            )
        })?;
        names.insert(name.to_owned());
    }
    Ok(())
}

fn replace(text: &str, values: &[(String, SecretString)], encode: fn(&str) -> String) -> String {
    let mut parts = text.split(OPEN);
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((name, rest)) = part.split_once(CLOSE) else {
            continue;
        };
        if let Some((_, value)) = values.iter().find(|(key, _)| key == name) {
            filled.push_str(&encode(value.expose_secret()));
        }
        filled.push_str(rest);
    }
    filled
}

fn percent_encoded(value: &str) -> String {
    utf8_percent_encode(value, NON_ALPHANUMERIC).to_string()
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ToolError> {
    let name = name.parse::<HeaderName>().ok().filter(|name| {
        let name = name.as_str();
        !RESERVED.contains(&name) && !is_connection_header(name) && !name.starts_with("sec-")
    });
    // The value may contain a secret, so the error does not repeat it.
    let name = name.ok_or_else(|| ToolError::new("One of these headers cannot be set."))?;
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| ToolError::new(format!("The value of the header {name} cannot be sent.")))?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
