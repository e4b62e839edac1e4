//! `[server.tls]`: the certificate that the service presents.

use crate::invalid_value::InvalidValue;
use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use std::path::PathBuf;
use url::{Host, Url};

const TLS_FILES: Change =
    Change::Never("set the certificate and the key together, in the file or the environment");
pub(super) const DOMAINS: &str = "server.tls.acme.domains";
const EMAIL: &str = "server.tls.acme.email";
const DIRECTORY: &str = "server.tls.acme.directory";
/// The maximum number of names in a certificate of Let's Encrypt (letsencrypt.org/docs/rate-limits).
const MAX_DOMAINS: usize = 100;

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "server.tls.cert",
        kind: Kind::Text(Rule::File),
        default: Initial::Unset,
        doc: "PEM file with the certificate chain. A relative path starts at the data directory.",
        example: "\"cert.pem\"",
        guard: Guard::StepUp,
        change: TLS_FILES,
    },
    KeySpec {
        key: "server.tls.key",
        kind: Kind::Text(Rule::File),
        default: Initial::Unset,
        doc: "PEM file with the certificate's private key.",
        example: "\"key.pem\"",
        guard: Guard::StepUp,
        change: TLS_FILES,
    },
    KeySpec {
        key: "server.tls.self_signed",
        kind: Kind::Flag,
        default: Initial::Flag(false),
        doc: "Serve TLS with a self-signed certificate that the gateway creates.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Restart,
    },
    KeySpec {
        key: EMAIL,
        kind: Kind::Text(Rule::Email),
        default: Initial::Unset,
        doc: "Contact address for the certificate authority.",
        example: "\"admin@example.com\"",
        guard: Guard::StepUp,
        change: Change::Restart,
    },
    KeySpec {
        key: DOMAINS,
        kind: Kind::List(Rule::DomainName),
        default: Initial::Empty,
        doc: "Names of the certificate that the gateway gets from a certificate authority by ACME (TLS-ALPN-01: port \
              443 of each name must reach this port). Setting it accepts the authority's terms of service.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Restart,
    },
    KeySpec {
        key: DIRECTORY,
        kind: Kind::Text(Rule::WebUrl),
        default: Initial::Text("https://acme-v02.api.letsencrypt.org/directory"),
        doc: "The directory URL of the certificate authority.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Restart,
    },
];

/// Whether TLS is enabled, and with which certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Plain HTTP.
    Off,
    /// A certificate that the service generates.
    SelfSigned,
    /// PEM files.
    Files {
        /// The certificate chain.
        cert: PathBuf,
        /// The private key.
        key: PathBuf,
    },
    /// A certificate of a certificate authority.
    Acme(Acme),
}

/// The settings for getting a certificate by ACME (RFC 8555).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acme {
    /// In lower case, sorted, without duplicates.
    pub domains: Vec<String>,
    pub email: String,
    pub directory: Url,
}

impl Tls {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        let self_signed = reader.flag("server.tls.self_signed")?;
        let acme = Acme::read(reader)?;
        if acme.is_some() && self_signed {
            return Err(InvalidSetting::new(
                DOMAINS,
                "`server.tls.self_signed` is set; use only one of the two",
            ));
        }
        match (
            reader.file("server.tls.cert"),
            reader.file("server.tls.key"),
        ) {
            (Some(_), Some(_)) if self_signed => Err(InvalidSetting::new(
                "server.tls.self_signed",
                "a certificate is configured; use only one of the two",
            )),
            (Some(_), Some(_)) if acme.is_some() => Err(InvalidSetting::new(
                DOMAINS,
                "a certificate is configured; use only one of the two",
            )),
            (Some(cert), Some(key)) => Ok(Self::Files { cert, key }),
            (Some(_), None) => Err(InvalidSetting::new(
                "server.tls.cert",
                "`server.tls.key` is also required",
            )),
            (None, Some(_)) => Err(InvalidSetting::new(
                "server.tls.key",
                "`server.tls.cert` is also required",
            )),
            (None, None) if self_signed => Ok(Self::SelfSigned),
            (None, None) => Ok(acme.map_or(Self::Off, Self::Acme)),
        }
    }
}

impl Acme {
    /// Reads the settings. Returns `None` without domains.
    fn read(reader: &Reader<'_>) -> Result<Option<Self>, InvalidSetting> {
        let mut domains: Vec<String> = reader.list(DOMAINS)?;
        domains.sort();
        domains.dedup();
        if domains.is_empty() {
            return Ok(None);
        }
        if domains.len() > MAX_DOMAINS {
            let reason = format!("more than {MAX_DOMAINS} names");
            return Err(InvalidSetting::new(DOMAINS, reason));
        }
        let Some(email) = reader.text(EMAIL) else {
            return Err(InvalidSetting::new(
                DOMAINS,
                format!("`{EMAIL}` is also required"),
            ));
        };
        let directory: Url = reader.required(DIRECTORY)?;
        // RFC 8555, section 6.1, requires HTTPS. HTTP is allowed for an authority on the same machine.
        let is_local = match directory.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(v4)) => v4.is_loopback(),
            Some(Host::Ipv6(v6)) => v6.is_loopback(),
            None => false,
        };
        if directory.scheme() != "https" && !is_local {
            return Err(InvalidSetting::new(DIRECTORY, "expected an https URL"));
        }
        Ok(Some(Self {
            domains,
            email: email.to_owned(),
            directory,
        }))
    }
}

/// Accepts a DNS name that a certificate authority can connect to: at least two labels, no wildcard, no IP address.
/// Returns the name in lower case. Internationalized names must be in their ASCII form.
pub(crate) fn check_domain(text: &str) -> Result<String, InvalidValue> {
    let wrong = || InvalidValue::new("expected a domain name, such as gatehouse.example.com");
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let mut labels = text.rsplit('.');
    let last = labels.next().filter(|last| is_label(last));
    let last = last.ok_or_else(wrong)?;
    let rest: Vec<&str> = labels.collect();
    if text.starts_with("*.") {
        return Err(InvalidValue::new(
            "a wildcard cannot be verified by TLS-ALPN-01; list each name",
        ));
    }
    let is_name = !rest.is_empty()
        && rest.iter().all(|label| is_label(label))
        && text.len() <= 253
        && !last.bytes().all(|b| b.is_ascii_digit());
    if is_name {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(wrong())
    }
}

/// Accepts a text that can be the address in a `mailto` URL without escaping. Mail servers check the rest.
pub(crate) fn check_email(text: &str) -> Result<String, InvalidValue> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"!$&'*+-/=^_`{|}~.".contains(&b);
    match text.rsplit_once('@') {
        Some((name, domain))
            if (1..=64).contains(&name.len())
                && name.bytes().all(is_plain)
                && check_domain(domain).is_ok() =>
        {
            Ok(text.to_owned())
        }
        _ => Err(InvalidValue::new(
            "expected an email address, such as admin@example.com",
        )),
    }
}

#[cfg(test)]
mod tests;
