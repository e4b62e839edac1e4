//! Stored secrets in requests of `web_fetch` and to MCP servers. `{{secret:NAME}}` stands for an environment variable
//! in the vault, if `tools.secrets` allows the host. The value is hidden from the model, even if the response repeats
//! it.

mod names;
mod permit;

use arc_swap::ArcSwap;
use gatehouse_agents::{Audience, ToolError};
use gatehouse_config::ToolSecret;
use gatehouse_domain::is_connection_header;
use gatehouse_secrets::Secrets;
use names::{braces, names_in, replace};
pub(crate) use names::{named_secrets, names_secrets};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use url::Url;

pub(crate) use gatehouse_secrets::Redactor;

const OPEN: &str = "{{secret:";
const CLOSE: &str = "}}";
/// The shortest value that is sent, in bytes. Removing a shorter value from a response would damage the response.
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
    /// Removes all secrets that requests may contain, because the answer may repeat a secret of an earlier request.
    pub(crate) redactor: Redactor,
    /// Whether all secrets could be read. If not, answers of their hosts must not be used.
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

    /// Returns the allowed secrets with their hosts, as text for the model. Returns `None` if there
    /// are none.
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
