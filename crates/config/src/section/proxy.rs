//! `[proxy]`: the trusted reverse proxies, which report the client's address.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use gatehouse_domain::Cidr;

use crate::invalid_value::InvalidValue;

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "proxy.trusted_cidrs",
        kind: Kind::List(Rule::Network),
        default: Initial::Empty,
        doc: "Networks of reverse proxies whose forwarding header is trusted.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "proxy.header",
        kind: Kind::Text(Rule::HeaderName),
        default: Initial::Text("x-forwarded-for"),
        doc: "The only header in which a trusted proxy reports the client's IP address.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
];

/// The section `[proxy]`.
#[derive(Clone, Debug)]
pub struct Proxy {
    pub trusted_cidrs: Vec<Cidr>,
    /// The header with the client's address, in lower case.
    pub header: String,
}

impl Proxy {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            trusted_cidrs: reader.list("proxy.trusted_cidrs")?,
            header: reader.required("proxy.header")?,
        })
    }
}

/// Checks a header name (RFC 9110, `token`) and converts it to lower case.
pub(crate) fn check_header(text: &str) -> Result<String, InvalidValue> {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if (1..=64).contains(&text.len()) && text.bytes().all(is_token) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(InvalidValue::new(
            "expected the name of a header, such as x-forwarded-for",
        ))
    }
}
