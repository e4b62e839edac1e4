//! The known providers: those in the settings, the two vendors, and a local server.

use crate::{ModelsSettings, ProviderKind};
use gatehouse_domain::KeyBinding;
use secrecy::SecretString;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use url::{Host, Url};

/// The ID of the auto-detected local server.
pub(crate) const LOCAL: &str = "ollama";

/// A provider and its address.
#[derive(Clone)]
pub(crate) struct Endpoint<'s> {
    pub(crate) id: Cow<'s, str>,
    pub(crate) kind: ProviderKind,
    pub(crate) base_url: Cow<'s, Url>,
    /// The models listed in the settings.
    pub(crate) models: &'s [String],
    pub(crate) settings_key: Option<&'s SecretString>,
    pub(crate) environment_key: Option<&'s SecretString>,
    /// The additional headers of the settings.
    pub(crate) headers: Option<&'s BTreeMap<String, SecretString>>,
    pub(crate) azure_api_version: Option<&'s str>,
}

impl Endpoint<'_> {
    /// Returns whether the provider is in a private network, where servers usually require no key.
    pub(crate) fn is_local(&self) -> bool {
        is_local(&self.base_url)
    }

    /// Returns the service to which the provider's stored key must be bound.
    pub(crate) fn service(&self) -> KeyBinding {
        KeyBinding::of_url(self.kind.as_str(), &self.base_url)
    }

    /// Returns whether the provider's ID is a vendor's name.
    pub(crate) fn is_vendor(&self) -> bool {
        self.id == self.kind.as_str()
    }
}

/// The sources of providers.
#[derive(Clone, Copy)]
pub(crate) struct Candidates<'s> {
    pub(crate) settings: &'s ModelsSettings,
    pub(crate) local: Option<&'s Url>,
}

impl<'s> Candidates<'s> {
    pub(crate) fn find(&self, id: &str) -> Option<Endpoint<'s>> {
        let mut all = self.all().into_iter();
        all.find(|endpoint| endpoint.id == id)
            .or_else(|| self.local().filter(|_| id == LOCAL))
    }

    /// Returns the providers of the settings, sorted by ID, then the vendors that the settings do not override. "First
    /// configured" refers to this order.
    pub(crate) fn all(&self) -> Vec<Endpoint<'s>> {
        let settings = self.settings;
        let described = settings.providers.iter().map(|(id, given)| Endpoint {
            id: Cow::Borrowed(id.as_str()),
            kind: given.kind,
            base_url: Cow::Borrowed(&given.base_url),
            models: &given.models,
            settings_key: given.api_key.as_ref(),
            environment_key: self.environment_key(id),
            headers: Some(&given.headers),
            azure_api_version: given.azure_api_version.as_deref(),
        });
        let vendors = [ProviderKind::Openai, ProviderKind::Anthropic].into_iter();
        let vendors = vendors.filter_map(|kind| {
            let id = kind.as_str();
            let base_url = Url::parse(kind.default_base_url()).ok()?;
            (!settings.providers.contains_key(id)).then(|| Endpoint {
                id: Cow::Borrowed(id),
                kind,
                base_url: Cow::Owned(base_url),
                models: &[],
                settings_key: None,
                environment_key: self.environment_key(id),
                headers: None,
                azure_api_version: None,
            })
        });
        described.chain(vendors).collect()
    }

    /// Returns the local server, unless the settings define a provider with its name.
    pub(crate) fn local(&self) -> Option<Endpoint<'s>> {
        let base_url = self.local?;
        (!self.settings.providers.contains_key(LOCAL)).then_some(Endpoint {
            id: Cow::Borrowed(LOCAL),
            kind: ProviderKind::Openai,
            base_url: Cow::Borrowed(base_url),
            models: &[],
            settings_key: None,
            environment_key: None,
            headers: None,
            azure_api_version: None,
        })
    }

    fn environment_key(&self, id: &str) -> Option<&'s SecretString> {
        let key = match id {
            "openai" => self.settings.openai_api_key.as_ref(),
            "anthropic" => self.settings.anthropic_api_key.as_ref(),
            _ => None,
        };
        key.filter(|_| self.settings.autodetect)
    }
}

/// Returns whether a URL is local, without using DNS. A local URL has an address outside the public internet, or a name
/// that only a local network resolves.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(v4)) => is_local_v4(v4),
        Some(Host::Ipv6(v6)) => is_local_v6(v6),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let last = name.rsplit('.').next().unwrap_or_default();
            !name.contains('.')
                || matches!(last, "localhost" | "local" | "lan" | "internal")
                || name.ends_with(".home.arpa")
        }
        None => false,
    }
}

fn is_local_v4(v4: Ipv4Addr) -> bool {
    // Private overlay networks use 100.64.0.0/10 (RFC 6598).
    let [a, b, ..] = v4.octets();
    v4.is_loopback() || v4.is_private() || v4.is_link_local() || (a == 100 && b & 0xc0 == 64)
}

fn is_local_v6(v6: Ipv6Addr) -> bool {
    match v6.to_ipv4_mapped() {
        Some(v4) => is_local_v4(v4),
        None => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProviderSettings;

    #[test]
    fn what_is_local() {
        for (url, local) in [
            ("http://127.0.0.1:11434/v1", true),
            ("http://localhost/v1", true),
            ("http://a.localhost./v1", true),
            ("http://ollama:11434/v1", true),
            ("http://host.docker.internal/v1", true),
            ("http://10.1.2.3/v1", true),
            ("http://100.64.0.1/v1", true),
            ("http://100.128.0.1/v1", false),
            ("http://[::1]/v1", true),
            ("http://[fd00::1]/v1", true),
            ("http://[::ffff:192.168.0.1]/v1", true),
            ("http://[2606:4700::1111]/v1", false),
            ("https://api.openai.com/v1", false),
            ("https://8.8.8.8/v1", false),
            ("https://localhost.example.com/v1", false),
        ] {
            assert_eq!(is_local(&Url::parse(url).unwrap()), local, "{url}");
        }
    }

    fn candidates<'s>(settings: &'s ModelsSettings, local: &'s Url) -> Candidates<'s> {
        Candidates {
            settings,
            local: Some(local),
        }
    }

    #[test]
    fn described_providers_stand_first_and_take_a_vendors_place() {
        let given =
            |url: &str| ProviderSettings::new(ProviderKind::Openai, Url::parse(url).unwrap());
        let local = Url::parse("http://127.0.0.1:1/v1").unwrap();
        let mut settings = ModelsSettings {
            openai_api_key: Some(SecretString::from("k")),
            ..Default::default()
        };
        settings
            .providers
            .insert("openai".to_owned(), given("http://proxy/v1"));
        settings
            .providers
            .insert("zeta".to_owned(), given("http://z/v1"));
        let all = candidates(&settings, &local).all();
        let ids: Vec<&str> = all.iter().map(|endpoint| &*endpoint.id).collect();
        assert_eq!(ids, ["openai", "zeta", "anthropic"]);
        assert!(all[0].environment_key.is_some() && all[1].environment_key.is_none());
        assert!(candidates(&settings, &local).find(LOCAL).is_some());
        assert!(candidates(&settings, &local).find("nobody").is_none());
        settings.autodetect = false;
        assert!(
            candidates(&settings, &local).all()[0]
                .environment_key
                .is_none()
        );
        settings
            .providers
            .insert(LOCAL.to_owned(), given("http://other/v1"));
        let found = candidates(&settings, &local).find(LOCAL).unwrap();
        assert_eq!(found.base_url.as_str(), "http://other/v1");
    }
}
