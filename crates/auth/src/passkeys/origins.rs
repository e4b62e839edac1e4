//! The page origins from which passkey responses are accepted. A relying-party ID names only a
//! host. Without this check, a page on any port of the host could request a passkey response and
//! relay it.

use crate::cross_site::AllowedOrigin;
use crate::host::{Authority, Host};
use url::Url;

/// The inputs for computing the origins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pages<'a> {
    /// The host and port of the request.
    pub(super) host: Option<&'a Authority<'a>>,
    /// Whether the browser used TLS.
    pub(super) is_https: bool,
    /// Whether a proxy in front of this server may end TLS without reporting it.
    pub(super) has_proxy: bool,
    /// `server.external_url`.
    pub(super) external_url: Option<&'a AllowedOrigin>,
    /// `server.allowed_origins`.
    pub(super) allowed_origins: &'a [AllowedOrigin],
}

impl Pages<'_> {
    /// Returns the exact origins (scheme, host, port) that are accepted for this relying party: the configured
    /// ones, and the origin of the request. If `server.external_url` names the host, the request's `Host` is
    /// ignored, because a relay could forge it.
    pub(super) fn of(&self, rp_id: &str) -> Vec<Url> {
        let is_here = |authority: &Authority<'_>| authority.host.name() == Some(rp_id);
        let named = self.external_url.into_iter().chain(self.allowed_origins);
        let mut origins: Vec<Url> = named
            .filter(|entry| is_here(entry.authority()))
            .flat_map(|entry| match entry.scheme() {
                Some(scheme) => urls(&[scheme], entry.authority()),
                None => urls(&["https", "http"], entry.authority()),
            })
            .collect();
        let external_is_here = self
            .external_url
            .is_some_and(|entry| is_here(entry.authority()));
        let own = self.host.filter(|host| is_here(host) && !external_is_here);
        origins.extend(own.into_iter().flat_map(|host| self.urls_of(host)));
        origins
    }

    /// Returns the origins of a page that sends requests to `host`. A request over plain HTTP for a public name has
    /// passed a proxy that ended TLS. A request over plain HTTP for a loopback name came from an `http` page,
    /// unless a proxy is configured.
    fn urls_of(&self, host: &Authority<'_>) -> Vec<Url> {
        let schemes: &[&str] = match (self.is_https, may_use_http(host), self.has_proxy) {
            (false, true, false) => &["http"],
            (false, true, true) => &["https", "http"],
            _ => &["https"],
        };
        urls(schemes, host)
    }
}

/// Returns whether browsers offer passkeys to HTTP pages of this host, which they do only for loopback hosts.
fn may_use_http(authority: &Authority<'_>) -> bool {
    matches!(&authority.host, Host::Name(_)) && authority.host.is_loopback()
}

fn urls(schemes: &[&str], authority: &Authority<'_>) -> Vec<Url> {
    schemes
        .iter()
        .filter(|scheme| **scheme == "https" || may_use_http(authority))
        .filter_map(|scheme| Url::parse(&format!("{scheme}://{authority}")).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(host: &str, is_https: bool, external: Option<&str>, rp_id: &str) -> Vec<String> {
        origins_with(false, host, is_https, external, rp_id)
    }

    fn origins_with(
        has_proxy: bool,
        host: &str,
        is_https: bool,
        external: Option<&str>,
        rp_id: &str,
    ) -> Vec<String> {
        let host = Authority::parse(host.as_bytes()).unwrap();
        let external: Option<AllowedOrigin> = external.map(|text| text.parse().unwrap());
        let allowed = ["https://app.example:8443", "tools.example"];
        let allowed = allowed.map(|text| text.parse().unwrap());
        let pages = Pages {
            host: Some(&host),
            is_https,
            has_proxy,
            external_url: external.as_ref(),
            allowed_origins: &allowed,
        };
        let found = pages.of(rp_id);
        found
            .iter()
            .map(|url| url.origin().ascii_serialization())
            .collect()
    }

    #[test]
    fn a_loopback_page_may_use_tls_only_behind_a_configured_proxy() {
        let found = |has_proxy| origins_with(has_proxy, "localhost:8420", false, None, "localhost");
        assert_eq!(found(false), ["http://localhost:8420"]);
        assert_eq!(
            found(true),
            ["https://localhost:8420", "http://localhost:8420"]
        );
    }

    #[test]
    fn an_origin_is_exactly_the_one_that_was_asked() {
        assert_eq!(
            origins("localhost:8420", false, None, "localhost"),
            ["http://localhost:8420"]
        );
        assert_eq!(
            origins("localhost:8420", true, None, "localhost"),
            ["https://localhost:8420"]
        );
        assert_eq!(
            origins("gate.example:8443", false, None, "gate.example"),
            ["https://gate.example:8443"]
        );
    }

    #[test]
    fn what_the_operator_names_rules_its_host() {
        let external = Some("https://gate.example");
        for host in ["gate.example", "gate.example:9999", "internal"] {
            assert_eq!(
                origins(host, true, external, "gate.example"),
                ["https://gate.example"],
                "{host}"
            );
        }
        assert_eq!(
            origins("localhost:8420", false, external, "localhost"),
            ["http://localhost:8420"]
        );
        assert_eq!(
            origins("app.example", true, external, "app.example"),
            ["https://app.example:8443", "https://app.example"]
        );
        assert!(origins("other.example", true, external, "gone.example").is_empty());
    }
}
