//! What each room below takes of the settings.

use gatehouse_agents::AgentsSettings;
use gatehouse_config as config;
use gatehouse_config::{Layers, Resolved, Settings};
use gatehouse_models::{ModelsSettings, ProviderKind, ProviderSettings};
use gatehouse_outbound::OutboundSettings;
use gatehouse_tools::{McpServerSettings, SearchProvider, ToolsSettings, WebSearchSettings};
use gatehouse_webhooks::WebhooksSettings;
use secrecy::SecretString;
use std::net::IpAddr;

/// What outbound takes.
pub const fn outbound_settings(settings: &Settings) -> OutboundSettings {
    OutboundSettings {
        allow_private: settings.network.allow_private,
    }
}

/// What models takes. A key of the file or the environment was given for the address that stands there:
/// where another address was set at run time, the key must be entered for it by `providers.set_key`.
pub fn models_settings(resolved: &Resolved, layers: &Layers) -> ModelsSettings {
    let (settings, process) = (&resolved.settings, layers.process());
    let was_moved = |id: &str| {
        let key = format!("models.providers.{id}.base_url");
        resolved.origin(&key) == config::Origin::Settings
    };
    let from_environment = |key: &Option<SecretString>, kind: ProviderKind| {
        key.clone().filter(|_| !was_moved(kind.as_str()))
    };
    let providers = settings.models.providers.iter().map(|(id, provider)| {
        let made = ProviderSettings {
            kind: match provider.kind {
                config::ProviderKind::Openai => ProviderKind::Openai,
                config::ProviderKind::Anthropic => ProviderKind::Anthropic,
            },
            base_url: provider.base_url.clone(),
            api_key: provider.api_key.clone().filter(|_| !was_moved(id)),
            models: provider.models.clone(),
        };
        (id.clone(), made)
    });
    ModelsSettings {
        default: settings.models.default.clone(),
        autodetect: settings.models.autodetect,
        providers: providers.collect(),
        openai_api_key: from_environment(&process.openai_api_key, ProviderKind::Openai),
        anthropic_api_key: from_environment(&process.anthropic_api_key, ProviderKind::Anthropic),
    }
}

/// What agents takes.
pub fn agents_settings(settings: &Settings) -> AgentsSettings {
    AgentsSettings {
        require_approval: settings.tools.require_approval.clone(),
        ..AgentsSettings::default()
    }
}

/// What tools takes.
pub fn tools_settings(settings: &Settings, layers: &Layers) -> ToolsSettings {
    let search = &settings.tools.web_search;
    let servers = settings.mcp.servers.iter().map(|(name, server)| {
        let made = match server {
            config::McpServer::Command { command, args, env } => McpServerSettings::Command {
                command: command.clone(),
                args: args.clone(),
                env: env.clone(),
            },
            config::McpServer::Url(url) => McpServerSettings::Url(url.clone()),
        };
        (name.clone(), made)
    });
    ToolsSettings {
        web_search: WebSearchSettings {
            provider: search.provider.map(|provider| match provider {
                config::SearchProvider::Brave => SearchProvider::Brave,
                config::SearchProvider::Tavily => SearchProvider::Tavily,
                config::SearchProvider::Searxng => SearchProvider::Searxng,
            }),
            api_key: search.api_key.clone(),
            base_url: search.base_url.clone(),
        },
        mcp_servers: servers.collect(),
        child_variables: layers.process().child_variables.clone(),
    }
}

/// What webhooks takes.
pub fn webhooks_settings(resolved: &Resolved) -> WebhooksSettings {
    let webhooks = &resolved.settings.webhooks;
    WebhooksSettings {
        workers: webhooks.workers,
        lease_seconds: webhooks.lease_seconds,
        max_attempts: webhooks.max_attempts,
        retry_base_ms: webhooks.retry_base_ms,
        global_rate_limit_per_minute: webhooks.global_rate_limit_per_minute,
        retention_days: webhooks.retention_days,
        retry_agent_errors: webhooks.retry_agent_errors,
        tracker_tolerance_seconds: webhooks.tracker_tolerance_seconds,
        base_url: base_url(&resolved.settings),
    }
}

/// Where others reach this server: as the owner says, else where it listens. Without a slash at the
/// end.
pub fn base_url(settings: &Settings) -> String {
    if let Some(url) = &settings.server.external_url {
        return url.as_str().trim_end_matches('/').to_owned();
    }
    let scheme = match settings.server.tls {
        config::Tls::Off => "http",
        config::Tls::Files { .. } | config::Tls::SelfSigned => "https",
    };
    let mut address = settings.server.bind;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(_) => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16]),
        });
    }
    format!("{scheme}://{address}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_config::{Environment, Invocation};
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn a_key_does_not_follow_an_address_that_was_set_at_run_time() {
        let environment = Environment::from_pairs([
            ("OPENAI_API_KEY", "from-environment"),
            ("SERVICE_MODELS__PROVIDERS__OPENAI__API_KEY", "given"),
            ("SERVICE_MODELS__PROVIDERS__OPENAI__KIND", "openai"),
        ]);
        let directory = std::env::temp_dir();
        let invocation = Invocation {
            data_dir: Some(directory),
            ..Default::default()
        };
        let layers = Layers::load(&environment, &invocation).unwrap();
        let keys = |rows: BTreeMap<String, serde_json::Value>| {
            let made = models_settings(&layers.resolve(&rows).unwrap(), &layers);
            let provider = made.providers.get("openai").unwrap();
            (provider.api_key.is_some(), made.openai_api_key.is_some())
        };
        assert_eq!(keys(BTreeMap::new()), (true, true));
        let moved = json!("https://elsewhere.example/v1");
        let rows = BTreeMap::from([("models.providers.openai.base_url".to_owned(), moved)]);
        assert_eq!(keys(rows), (false, false));
    }
}
