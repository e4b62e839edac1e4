//! Translates the settings for the other crates.

use super::written_keys::{WrittenKeys, model_service, search_service};
use gatehouse_agents::AgentsSettings;
use gatehouse_config as config;
use gatehouse_config::{Layers, Resolved, Settings};
use gatehouse_domain::Zone;
use gatehouse_models::ModelsSettings;
use gatehouse_outbound::OutboundSettings;
use gatehouse_tools::ToolsSettings;
use gatehouse_webhooks::WebhooksSettings;
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Returns the host at which the gateway is reached from outside, if it is set.
pub fn external_host(settings: &Settings) -> Option<&str> {
    settings.server.external_url.as_ref()?.host_str()
}

/// Translates the settings for `outbound`.
pub const fn outbound_settings(settings: &Settings) -> OutboundSettings {
    OutboundSettings {
        allow_private: settings.network.allow_private,
    }
}

/// Translates the settings for `models`.
pub fn models_settings(resolved: &Resolved, layers: &Layers) -> ModelsSettings {
    let (settings, process) = (&resolved.settings, layers.process());
    let keys = WrittenKeys::new(resolved, layers);
    let of_provider = |key: &Option<SecretString>, id: &str| {
        keys.keep(key.clone(), |settings| model_service(settings, id))
    };
    let providers = settings.models.providers.iter().map(|(id, provider)| {
        let mut provider = provider.clone();
        provider.api_key = of_provider(&provider.api_key, id);
        // Headers often contain a key, so they are not sent to a changed URL.
        if !keys.is_written(|settings| model_service(settings, id)) {
            provider.headers = BTreeMap::new();
        }
        (id.clone(), provider)
    });
    ModelsSettings {
        default: settings.models.default.clone(),
        autodetect: settings.models.autodetect,
        proxy: settings.models.proxy.clone(),
        providers: providers.collect(),
        openai_api_key: of_provider(&process.openai_api_key, "openai"),
        anthropic_api_key: of_provider(&process.anthropic_api_key, "anthropic"),
    }
}

/// Translates the settings for `agents`.
pub fn agents_settings(settings: &Settings) -> AgentsSettings {
    AgentsSettings {
        require_approval: settings.tools.require_approval.clone(),
        taint: settings.tools.taint,
        trust: settings.tools.trust.clone(),
        approval_wait: settings.approvals.timeout,
        turn_timeout: settings.agents.turn_timeout,
        retention: settings.agents.retention,
        audio_retention: settings.agents.audio_retention,
        attachment_max_bytes: settings.agents.attachment_max_bytes,
        attachments_total_bytes: settings.agents.attachments_total_bytes,
        attachment_retention: settings.agents.attachment_retention,
        usage_retention: settings.agents.usage_retention,
        zone: settings
            .agents
            .timezone
            .clone()
            .unwrap_or_else(Zone::system),
    }
}

/// Translates the settings for `tools`.
pub fn tools_settings(resolved: &Resolved, layers: &Layers) -> ToolsSettings {
    let settings = &resolved.settings;
    let mut web_search = settings.tools.web_search.clone();
    let keys = WrittenKeys::new(resolved, layers);
    web_search.api_key = keys.keep(web_search.api_key, search_service);
    ToolsSettings {
        web_search,
        secrets: settings.tools.secrets.clone(),
        mcp_servers: mcp_servers(settings, &keys),
        child_variables: layers.process().child_variables.clone(),
    }
}

/// Returns the MCP servers. Headers in the file are not used if a run-time change sets a URL of another origin.
fn mcp_servers(settings: &Settings, keys: &WrittenKeys<'_>) -> BTreeMap<String, config::McpServer> {
    let mut servers = settings.mcp.servers.clone();
    for (name, server) in &mut servers {
        let config::McpServer::Url { url, headers } = server else {
            continue;
        };
        let Ok(written) = keys.written_mcp_server(name) else {
            headers.clear();
            continue;
        };
        if let Some(config::McpServer::Url {
            url: written,
            headers: own,
        }) = written
            && written.origin() != url.origin()
        {
            let is_own = |name: &String, value: &SecretString| {
                let written = own.get(name).map(ExposeSecret::expose_secret);
                written == Some(value.expose_secret())
            };
            headers.retain(|name, value| !is_own(name, value));
        }
    }
    servers
}

/// Translates the settings for `webhooks`.
pub fn webhooks_settings(resolved: &Resolved) -> WebhooksSettings {
    WebhooksSettings {
        section: resolved.settings.webhooks.clone(),
        drain_seconds: resolved.settings.server.drain_seconds,
        hold_while_sealed: resolved.settings.vault.hold_while_sealed,
        base_url: base_url(&resolved.settings),
    }
}

/// Returns the URL at which others reach this server: `server.external_url`, or the bind address. Has no trailing
/// slash.
pub fn base_url(settings: &Settings) -> String {
    if let Some(url) = &settings.server.external_url {
        return url.as_str().trim_end_matches('/').to_owned();
    }
    let scheme = match settings.server.tls {
        config::Tls::Off => "http",
        config::Tls::Files { .. } | config::Tls::SelfSigned | config::Tls::Acme(_) => "https",
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
mod tests;
