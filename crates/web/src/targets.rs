//! The possible targets of `only` for API keys and devices, and presets for common purposes.

use crate::route::Access;
use crate::routes::ROUTES;
use gatehouse_auth::Targets;
use gatehouse_auth::api::KeyPreset;
use gatehouse_domain::Scope::{self, Read, Write};
use gatehouse_rpc::METHODS;

/// Name, purpose, scopes, and the methods and paths.
type Row = (
    &'static str,
    &'static str,
    &'static [Scope],
    &'static [&'static str],
);

const PRESETS: &[Row] = &[
    #[cfg(feature = "voice")]
    (
        "voice",
        "Converts text to speech and transcribes recordings. Does not read conversations.",
        &[Read, Write],
        &[
            "tts.*",
            "stt.*",
            "voice.personas.list",
            "voice.personas.get",
            "/api/tts/stream",
            "/v1/audio/*",
            "/v1/models",
            "/v1/models/*",
        ],
    ),
    (
        "chat",
        "Reads, starts and continues conversations.",
        &[Read, Write],
        &[
            "chat.*",
            "sessions.list",
            "sessions.get",
            "sessions.create",
            "sessions.rename",
            "sessions.update",
            "sessions.tags",
            "agents.list",
            "agents.get",
            "models.list",
            "/api/sessions",
            "/api/sessions/*",
            "/v1/chat/completions",
            "/v1/responses",
            #[cfg(feature = "voice")]
            "/ws/talk",
            "/v1/models",
            "/v1/models/*",
        ],
    ),
    (
        "ingest",
        "Manages inbound webhooks and their deliveries.",
        &[Read, Write],
        &[
            "webhooks.*",
            "agents.list",
            "channels.list",
            "channels.types",
        ],
    ),
    (
        "metrics",
        "Reads metrics for Prometheus.",
        &[Read],
        &["/metrics"],
    ),
];

/// Returns the possible targets of `only` in this build.
pub fn targets() -> Targets {
    let preset = |&(id, summary, scopes, only): &Row| KeyPreset {
        id,
        summary,
        scopes: scopes.iter().copied().collect(),
        only: only.to_vec(),
    };
    Targets {
        methods: METHODS.iter().map(|method| method.name).collect(),
        paths: ROUTES
            .iter()
            .filter(|route| route.access != Access::Public && !route.carries_calls)
            .map(|route| route.path)
            .collect(),
        presets: PRESETS.iter().map(preset).collect(),
    }
}
