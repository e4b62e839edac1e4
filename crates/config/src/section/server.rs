//! `[server]`: the service's listener, external URL and origins.

use crate::invalid_value::InvalidValue;
use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use crate::section::tls::{DOMAINS, Tls};
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use url::Url;

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "server.bind",
        kind: Kind::Text(Rule::Address),
        default: Initial::Text("127.0.0.1:8420"),
        doc: "Address and port to listen on.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Restart,
    },
    KeySpec {
        key: "server.external_url",
        kind: Kind::Text(Rule::WebUrl),
        default: Initial::Unset,
        doc: "The URL at which browsers and webhook senders reach the gateway. By default https and the first name of \
              server.tls.acme.domains, if there is one.",
        example: "\"https://gatehouse.example.com\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "server.allowed_origins",
        kind: Kind::List(Rule::Origin),
        default: Initial::Empty,
        doc: "Additional origins whose pages may call the API from a browser: scheme://host[:port] or host:port.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "server.max_message_bytes",
        kind: Kind::Whole {
            min: 65_536,
            max: 268_435_456,
        },
        default: Initial::Whole(37_748_736),
        doc: "The largest WebSocket message and RPC body, in bytes.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Restart,
    },
    KeySpec {
        key: "server.drain_delay_seconds",
        kind: Kind::Whole { min: 0, max: 300 },
        default: Initial::Whole(0),
        doc: "Seconds between the signal to stop and the shutdown. During this time requests are accepted, and \
              /health/ready fails, so that a load balancer can choose another node.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "server.drain_seconds",
        kind: Kind::Whole { min: 0, max: 3600 },
        default: Initial::Whole(30),
        doc: "Seconds that a shutdown waits for sends and turns before it interrupts them.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "server.ready_when_sealed",
        kind: Kind::Flag,
        default: Initial::Flag(false),
        doc: "Report /health/ready while the vault is sealed.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
];

/// The section `[server]`.
#[derive(Clone, Debug)]
pub struct Server {
    pub bind: SocketAddr,
    /// The URL for browsers and webhook senders, if it is configured or known from the names of the certificate.
    pub external_url: Option<Url>,
    /// Additional origins whose pages may call the API from a browser.
    pub allowed_origins: Vec<AllowedOrigin>,
    /// The maximum size of a WebSocket message and of an RPC body.
    pub max_message_bytes: usize,
    /// How long requests are accepted after the signal to stop.
    pub drain_delay_seconds: u64,
    /// How long a shutdown waits for sends and turns.
    pub drain_seconds: u64,
    /// Whether a node whose vault is sealed is ready.
    pub ready_when_sealed: bool,
    pub tls: Tls,
}

impl Server {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        let external_url = match reader.optional("server.external_url")? {
            None => certified_url(reader)?,
            given => given,
        };
        Ok(Self {
            bind: reader.required("server.bind")?,
            external_url,
            allowed_origins: reader.list("server.allowed_origins")?,
            max_message_bytes: reader.whole("server.max_message_bytes")?,
            drain_delay_seconds: reader.whole("server.drain_delay_seconds")?,
            drain_seconds: reader.whole("server.drain_seconds")?,
            ready_when_sealed: reader.flag("server.ready_when_sealed")?,
            tls: Tls::read(reader)?,
        })
    }
}

/// Returns the URL with the first name of the certificate. Its port is 443, because the certificate authority
/// verifies the name on that port. The server may listen on another port to which port 443 is forwarded.
fn certified_url(reader: &Reader<'_>) -> Result<Option<Url>, InvalidSetting> {
    let domains: Vec<String> = reader.list(DOMAINS)?;
    let first = domains.first();
    Ok(first.and_then(|name| Url::parse(&format!("https://{name}")).ok()))
}

/// An origin whose pages may call the API from a browser. Compared by host and port, as in the cross-site check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigin {
    /// `http` or `https`, if the operator gave one.
    pub scheme: Option<String>,
    /// The host in lower case. An IPv6 address has brackets.
    pub host: String,
    /// The port. The default is the one of the scheme.
    pub port: u16,
}

impl AllowedOrigin {
    /// Returns whether host (in lower case, IPv6 in brackets) and port match.
    pub fn matches(&self, host: &str, port: u16) -> bool {
        self.port == port && self.host == host
    }
}

impl FromStr for AllowedOrigin {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let wrong = || {
            InvalidValue::new(
                "expected an origin such as https://chat.example.com or chat.example.com:8443",
            )
        };
        let bare = !text.contains("://");
        let url = if bare {
            format!("http://{text}")
        } else {
            text.to_owned()
        };
        let url = Url::parse(&url).map_err(|_| wrong())?;
        let plain = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none();
        // The URL parser drops a port that is the scheme's default, so the text is checked.
        let (_, port) = text.rsplit_once(':').unwrap_or_default();
        if !plain || bare && (port.is_empty() || !port.bytes().all(|b| b.is_ascii_digit())) {
            return Err(wrong());
        }
        let host = url
            .host_str()
            .filter(|host| !host.contains('*'))
            .ok_or_else(wrong)?;
        Ok(Self {
            scheme: (!bare).then(|| url.scheme().to_owned()),
            host: host.to_ascii_lowercase(),
            port: url.port_or_known_default().ok_or_else(wrong)?,
        })
    }
}

impl fmt::Display for AllowedOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = match self.scheme.as_deref() {
            Some("https") => Some(443),
            Some(_) => Some(80),
            None => None,
        };
        if let Some(scheme) = &self.scheme {
            write!(f, "{scheme}://")?;
        }
        f.write_str(&self.host)?;
        if default == Some(self.port) {
            Ok(())
        } else {
            write!(f, ":{}", self.port)
        }
    }
}

#[cfg(test)]
mod tests;
