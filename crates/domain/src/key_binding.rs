//! The rule for stored keys. A key belongs to the kind of service and the origin (scheme, host and port) that it
//! was entered for, and is never sent to another service.

use std::fmt;
use std::str::FromStr;
use url::Url;

/// The kind and origin of a service that receives a key.
///
/// The text form consists of the kind, a space and the origin, such as `openai https://api.openai.com:443`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBinding {
    /// The kind; `None` for keys stored before kinds existed.
    kind: Option<String>,
    origin: String,
}

impl KeyBinding {
    /// Returns the service of this kind at this URL. Ignores the path.
    pub fn of_url(kind: &str, url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        Self::of_host(kind, url.scheme(), host, port)
    }

    /// Returns the service of this kind at this host, for protocols whose services have no URL.
    pub fn of_host(kind: &str, scheme: &str, host: &str, port: u16) -> Self {
        Self {
            kind: Some(kind.to_owned()),
            origin: format!("{scheme}://{}:{port}", host.to_ascii_lowercase()),
        }
    }

    /// Returns the service at this URL with any kind, for keys stored before kinds existed.
    pub fn of_any_kind(url: &Url) -> Self {
        Self {
            kind: None,
            ..Self::of_url("", url)
        }
    }

    /// Returns whether a key that was entered for this binding may be sent to `service`. No other function decides
    /// this.
    pub fn admits(&self, service: &Self) -> bool {
        let kind_fits = self.kind.is_none() || self.kind == service.kind;
        kind_fits && self.origin == service.origin
    }

    /// Returns scheme, host and port, for display.
    pub fn origin(&self) -> &str {
        &self.origin
    }
}

impl fmt::Display for KeyBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.as_deref().unwrap_or("*");
        write!(f, "{kind} {}", self.origin)
    }
}

/// The text is not a valid key binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid key binding")]
pub struct InvalidKeyBinding;

impl FromStr for KeyBinding {
    type Err = InvalidKeyBinding;

    fn from_str(text: &str) -> Result<Self, InvalidKeyBinding> {
        let (kind, origin) = text.split_once(' ').ok_or(InvalidKeyBinding)?;
        if kind.is_empty() || !origin.contains("://") {
            return Err(InvalidKeyBinding);
        }
        Ok(Self {
            kind: (kind != "*").then(|| kind.to_owned()),
            origin: origin.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(kind: &str, url: &str) -> KeyBinding {
        KeyBinding::of_url(kind, &Url::parse(url).unwrap())
    }

    #[test]
    fn a_key_goes_to_its_kind_and_origin_and_nowhere_else() {
        let key = service("openai", "https://api.example/v1");
        for same in [
            "https://api.example/v1",
            "https://api.example:443/v2/",
            "https://API.example/",
        ] {
            assert!(key.admits(&service("openai", same)), "{same}");
        }
        for other in [
            "http://api.example/v1",
            "https://api.example:444/v1",
            "https://evil.example/v1",
            "https://api.example.evil/v1",
            "https://api.example./v1",
            "https://user@evil.example/api.example",
        ] {
            assert!(!key.admits(&service("openai", other)), "{other}");
        }
        assert!(!key.admits(&service("anthropic", "https://api.example/v1")));
        let mail = KeyBinding::of_host("email", "smtp", "Mail.example", 587);
        assert!(mail.admits(&KeyBinding::of_host("email", "smtp", "mail.example", 587)));
        assert!(!mail.admits(&KeyBinding::of_host("email", "smtp", "mail.example", 25)));
    }

    #[test]
    fn a_key_from_before_kinds_is_still_bound_to_its_origin() {
        let key = KeyBinding::of_any_kind(&Url::parse("https://api.example/v1").unwrap());
        assert!(key.admits(&service("openai", "https://api.example/v1")));
        assert!(!key.admits(&service("openai", "https://evil.example/v1")));
    }

    #[test]
    fn the_text_is_read_back() {
        let mail = KeyBinding::of_host("email", "smtp", "mail.example", 587);
        let any = KeyBinding::of_any_kind(&Url::parse("https://api.example/v1").unwrap());
        for binding in [service("mcp", "http://[::1]:8080/mcp"), mail, any] {
            assert_eq!(binding.to_string().parse(), Ok(binding));
        }
        for bad in ["", "openai", "openai api.example", " https://a:1"] {
            assert!(bad.parse::<KeyBinding>().is_err(), "{bad}");
        }
    }
}
