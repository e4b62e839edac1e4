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

/// The host under which the gateway is reached from outside, if it is set.
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
        // They often contain a key, and so do not follow a changed address.
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

/// The MCP servers. Headers in the file do not follow a URL of another origin that was set at run time.
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

/// The URL at which others reach this server: `server.external_url`, or the bind address. Has no trailing
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
mod tests {
    use super::*;
    use crate::live_config::auth_settings;
    use gatehouse_config::{Environment, Invocation};
    use serde_json::json;

    fn layers(variables: &[(&str, &str)]) -> Layers {
        let environment = Environment::from_pairs(variables.iter().copied());
        let invocation = Invocation {
            data_dir: Some(std::env::temp_dir()),
            ..Default::default()
        };
        Layers::load(&environment, &invocation).unwrap()
    }

    fn resolved(layers: &Layers, rows: &[(&str, serde_json::Value)]) -> Resolved {
        let rows = rows
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()));
        layers.resolve(&rows.collect::<BTreeMap<_, _>>()).unwrap()
    }

    /// Browsers may use another name of the certificate, or a port beside the one that is forwarded.
    #[test]
    fn the_name_of_a_certificate_is_the_public_url_and_restricts_no_origins() {
        let acme = [
            ("SERVICE_SERVER__TLS__ACME__DOMAINS", "a.example,b.example"),
            ("SERVICE_SERVER__TLS__ACME__EMAIL", "a@a.example"),
        ];
        let found = |variables: &[(&str, &str)]| {
            let layers = layers(variables);
            let resolved = resolved(&layers, &[]);
            let of_auth = auth_settings(&resolved, &layers).external_url;
            (base_url(&resolved.settings), of_auth.is_some())
        };
        assert_eq!(found(&acme), ("https://a.example".to_owned(), false));
        let [domains, email] = acme;
        let given = ("SERVICE_SERVER__EXTERNAL_URL", "https://a.example:8443");
        assert_eq!(
            found(&[domains, email, given]),
            ("https://a.example:8443".to_owned(), true)
        );
    }

    #[test]
    fn a_key_does_not_follow_an_address_or_kind_that_was_set_at_run_time() {
        let layers = layers(&[
            ("OPENAI_API_KEY", "from-environment"),
            ("SERVICE_MODELS__PROVIDERS__OPENAI__API_KEY", "given"),
            ("SERVICE_MODELS__PROVIDERS__OPENAI__HEADERS", "x-key=given"),
        ]);
        let keys = |rows: &[(&str, serde_json::Value)]| {
            let made = models_settings(&resolved(&layers, rows), &layers);
            let provider = made.providers.get("openai").unwrap();
            assert_eq!(provider.headers.is_empty(), provider.api_key.is_none());
            (provider.api_key.is_some(), made.openai_api_key.is_some())
        };
        let base_url = "models.providers.openai.base_url";
        assert_eq!(keys(&[]), (true, true));
        let same = json!("https://api.openai.com/v2");
        assert_eq!(keys(&[(base_url, same)]), (true, true));
        let moved = json!("https://elsewhere.example/v1");
        assert_eq!(keys(&[(base_url, moved)]), (false, false));
        let kind = ("models.providers.openai.kind", json!("anthropic"));
        assert_eq!(keys(std::slice::from_ref(&kind)), (false, false));
        // A different kind is a different service, even at the same address.
        let same = (base_url, json!("https://api.openai.com/v1"));
        assert_eq!(keys(&[kind, same]), (false, false));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test without async code")]
    fn headers_of_an_mcp_server_do_not_follow_an_address_that_was_set_at_run_time() {
        let directory = tempfile::tempdir().unwrap();
        let file = "[mcp.servers.far]\nurl = \"https://mcp.example/a\"\n\
                    headers = { x-key = \"given\", x-other = \"1\" }";
        std::fs::write(directory.path().join("gatehouse.toml"), file).unwrap();
        let invocation = Invocation {
            data_dir: Some(directory.path().to_path_buf()),
            ..Default::default()
        };
        let layers = Layers::load(&Environment::from_pairs([("", ""); 0]), &invocation).unwrap();
        let names = |rows: &[(&str, serde_json::Value)]| {
            let made = tools_settings(&resolved(&layers, rows), &layers);
            match made.mcp_servers.get("far") {
                Some(config::McpServer::Url { headers, .. }) => {
                    headers.keys().cloned().collect::<Vec<_>>()
                }
                other => panic!("{other:?}"),
            }
        };
        let url = |text: &str| ("mcp.servers.far.url", json!(text));
        assert_eq!(names(&[]), ["x-key", "x-other"]);
        assert_eq!(names(&[url("https://mcp.example/b")]), ["x-key", "x-other"]);
        assert_eq!(names(&[url("https://evil.example/a")]).len(), 0);
    }

    #[test]
    fn a_key_of_the_search_service_does_not_follow_another_one() {
        let key = ("SERVICE_TOOLS__WEB_SEARCH__API_KEY", "given");
        let brave = ("tools.web_search.provider", json!("brave"));
        let base_url = "tools.web_search.base_url";
        let has_key = |layers: &Layers, rows: &[(&str, serde_json::Value)]| {
            let made = tools_settings(&resolved(layers, rows), layers);
            made.web_search.api_key.is_some()
        };
        let written = layers(&[key, ("SERVICE_TOOLS__WEB_SEARCH__PROVIDER", "brave")]);
        assert!(has_key(&written, &[]));
        assert!(!has_key(
            &written,
            &[(base_url, json!("https://evil.example"))]
        ));
        let own = json!("https://api.search.brave.com");
        assert!(has_key(&written, &[(base_url, own)]));
        // Nothing states which service the key is for.
        let alone = layers(&[key]);
        assert!(!has_key(&alone, &[brave]));
        let toml = layers(&[key, ("SERVICE_TOOLS__WEB_SEARCH__BASE_URL", "http://h")]);
        let tavily = ("tools.web_search.provider", json!("tavily"));
        assert!(!has_key(&toml, &[tavily]));
    }
}
