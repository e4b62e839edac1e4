//! Keys from the file or the environment. They belong to the service that is configured there, without run-time
//! changes. A run-time change of the kind or the URL does not apply such a key to the new service.

use gatehouse_config::{ConfigError, Layers, McpServer, Provider, Resolved, Settings};
use gatehouse_domain::KeyBinding;
use secrecy::SecretString;
use url::Url;

/// The settings in effect, and the settings as written in the file and the environment.
pub(super) struct WrittenKeys<'a> {
    now: &'a Resolved,
    /// The written settings; `None` if they are invalid. No key then belongs to any service.
    written: Option<Resolved>,
}

/// The written settings are invalid.
pub(super) struct Invalid;

impl<'a> WrittenKeys<'a> {
    pub(super) fn new(now: &'a Resolved, layers: &Layers) -> Self {
        let warn =
            |error: &ConfigError| tracing::error!(%error, "the written settings are invalid");
        let written = layers.written().inspect_err(warn).ok();
        Self { now, written }
    }

    /// Returns the key only if `service` finds the same service in the written settings and in the settings
    /// in effect.
    pub(super) fn keep(
        &self,
        key: Option<SecretString>,
        service: impl Fn(&Settings) -> Option<KeyBinding>,
    ) -> Option<SecretString> {
        key.filter(|_| self.is_written(service))
    }

    /// Returns whether the service in effect is still the written one.
    pub(super) fn is_written(&self, service: impl Fn(&Settings) -> Option<KeyBinding>) -> bool {
        let written = self.written.as_ref().and_then(|all| service(&all.settings));
        let now = service(&self.now.settings);
        matches!((written, now), (Some(own), Some(now)) if own.admits(&now))
    }

    /// Returns the MCP server in the written settings, or an error if these are invalid.
    pub(super) fn written_mcp_server(&self, name: &str) -> Result<Option<&McpServer>, Invalid> {
        let written = self.written.as_ref().ok_or(Invalid)?;
        Ok(written.settings.mcp.servers.get(name))
    }
}

/// Returns the model provider with this ID. Providers named after a vendor exist without configuration.
pub(super) fn model_service(settings: &Settings, id: &str) -> Option<KeyBinding> {
    if let Some(Provider { kind, base_url, .. }) = settings.models.providers.get(id) {
        return Some(KeyBinding::of_url(kind.as_str(), base_url));
    }
    let vendors = [
        gatehouse_config::ProviderKind::Openai,
        gatehouse_config::ProviderKind::Anthropic,
    ];
    let vendor = vendors.into_iter().find(|kind| kind.as_str() == id)?;
    let url = Url::parse(vendor.default_base_url()).ok()?;
    Some(KeyBinding::of_url(id, &url))
}

/// Returns the configured search service.
pub(super) fn search_service(settings: &Settings) -> Option<KeyBinding> {
    let search = &settings.tools.web_search;
    gatehouse_tools::key_binding(search.provider?, search.base_url.as_ref())
}
