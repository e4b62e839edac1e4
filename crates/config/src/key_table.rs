//! The table of settings: every key and its properties. The sample, the schema and the scope rules are derived from
//! the table.

use crate::alias::{canonical_key, other_variable};
use crate::key::{Guard, KeySpec, section_of};
use crate::section;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Sections whose unknown keys, such as those of a later version, require a confirmation to change.
const GUARDED_SECTIONS: [&str; 9] = [
    "audit",
    "auth",
    "vault",
    "server",
    "proxy",
    "network",
    "database",
    "mcp",
    "telemetry",
];

/// Returns every setting, in the order of the sample.
pub fn describe() -> &'static [KeySpec] {
    static KEYS: LazyLock<Vec<KeySpec>> = LazyLock::new(|| section::KEYS.concat());
    &KEYS
}

/// Finds the setting for a dotted key, in either spelling.
pub fn find_key(key: &str) -> Option<&'static KeySpec> {
    let key = canonical_key(key);
    describe().iter().find(|spec| spec.id_in(&key).is_some())
}

/// Returns the variable that sets a key.
pub fn env_name(key: &str) -> Option<String> {
    let key = canonical_key(key);
    describe()
        .iter()
        .find_map(|spec| spec.id_in(&key).map(|id| spec.env_name(id)))
}

/// Returns the canonical name of a variable. Hyphens become underscores in variable names.
pub(crate) fn canonical_variable(name: &str) -> Cow<'_, str> {
    let found = describe()
        .iter()
        .find(|spec| other_variable(spec).as_deref() == Some(name));
    found.map_or(Cow::Borrowed(name), |spec| Cow::Owned(spec.env_name("")))
}

/// Returns who may change a key. For an unknown key, the section decides.
fn guard_of(key: &str) -> Guard {
    match find_key(key) {
        Some(spec) => spec.guard,
        None if GUARDED_SECTIONS.contains(&section_of(key)) => Guard::StepUp,
        None => Guard::Write,
    }
}

/// Returns whether changing a key requires `operator.admin`.
pub fn key_needs_admin(key: &str) -> bool {
    guard_of(key) != Guard::Write
}

/// Returns whether changing a key requires a recent confirmation.
pub fn key_needs_step_up(key: &str) -> bool {
    guard_of(key) == Guard::StepUp
}

/// Returns whether a key's value is never shown.
pub fn key_is_secret(key: &str) -> bool {
    find_key(key).is_some_and(KeySpec::is_secret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{ID, Initial, Kind, Rule};

    #[test]
    fn ids_have_an_alphabet_and_a_length() {
        let pattern = |id: &str| format!("models.providers.{id}.kind");
        for id in ["a", "My-1.b_c", &"x".repeat(64)] {
            assert!(find_key(&pattern(id)).is_some(), "{id}");
        }
        for id in ["", "a b", "ä", "a/b", &"x".repeat(65)] {
            assert!(find_key(&pattern(id)).is_none(), "{id}");
        }
    }

    #[test]
    fn variables_follow_from_keys() {
        let name = |key| env_name(key).unwrap();
        assert_eq!(name("server.bind"), "SERVICE_SERVER__BIND");
        assert_eq!(
            name("server.tls.self_signed"),
            "SERVICE_SERVER__TLS__SELF_SIGNED"
        );
        let dynamic = name("models.providers.my-own.ai.base_url");
        assert_eq!(dynamic, "SERVICE_MODELS__PROVIDERS__MY_OWN_AI__BASE_URL");
        assert_eq!(env_name("server.bnid"), None);
        for spec in describe() {
            let key = spec.key.replace(ID, "some_id");
            let name = env_name(&key).unwrap();
            assert_eq!(spec.key_of_env(&name).as_deref(), Some(key.as_str()));
        }
    }

    #[test]
    fn who_may_change_what() {
        for key in [
            "auth.step_up",
            "vault.plaintext_while_sealed",
            "server.bind",
            "proxy.header",
            "network.allow_private",
            "database.url",
            "mcp.servers.x.command",
            "models.providers.openai.base_url",
            "tools.require_approval",
            "tools.trust",
            "tools.secrets",
        ] {
            assert!(key_needs_admin(key), "{key}");
        }
        for key in [
            "models.default",
            "models.autodetect",
            "tools.web_search.provider",
            "log.level",
            "metrics.enabled",
        ] {
            assert!(!key_needs_admin(key), "{key}");
        }
        assert!(key_needs_step_up("auth.disabled_scope") && key_needs_step_up("vault.x"));
        assert!(key_needs_step_up("tools.taint") && key_needs_step_up("tools.secrets"));
        assert!(key_needs_step_up("server.bind") && key_needs_step_up("mcp.servers.x.command"));
        assert!(!key_needs_step_up("log.level") && !key_needs_step_up("tools.require_approval"));
        assert!(key_is_secret("models.providers.openai.api_key"));
        assert!(!key_is_secret("models.providers.openai.kind"));
    }

    /// Checks that every setting that names a program, a file or an address, or that affects access, requires a
    /// confirmation.
    #[test]
    fn what_steers_the_server_needs_a_confirmation() {
        for spec in describe() {
            let names_something = match spec.kind {
                Kind::Variables | Kind::Headers => true,
                Kind::Text(rule) | Kind::List(rule) => matches!(
                    rule,
                    Rule::WebUrl
                        | Rule::BaseUrl
                        | Rule::WebOrTcpUrl
                        | Rule::BaseOrTcpUrl
                        | Rule::Origin
                        | Rule::Address
                        | Rule::File
                        | Rule::Syslog
                        | Rule::Argument
                        | Rule::SecretArgument
                        | Rule::DatabaseUrl
                        | Rule::HeaderName
                        | Rule::Network
                        | Rule::Secret
                ),
                Kind::Flag | Kind::Whole { .. } | Kind::Number { .. } | Kind::Models => false,
            };
            let last = spec.key.rsplit('.').next().unwrap_or_default();
            let by_name = [
                "path", "dir", "file", "command", "url", "endpoint", "args", "kind",
            ]
            .iter()
            .any(|part| last.split('_').any(|word| word == *part));
            if names_something || by_name || GUARDED_SECTIONS.contains(&section_of(spec.key)) {
                assert!(spec.needs_step_up() && spec.needs_admin(), "{}", spec.key);
            }
        }
    }

    #[test]
    fn the_table_is_sound() {
        let mut names = std::collections::HashSet::new();
        for spec in describe() {
            assert!(names.insert(spec.key), "{} twice", spec.key);
            assert!(
                !spec.doc.is_empty() && !spec.doc.contains('\n'),
                "{}",
                spec.key
            );
            if spec.default == Initial::Unset {
                assert!(!spec.example.is_empty(), "{} needs an example", spec.key);
            } else {
                let default = spec.default_json();
                let checked = crate::value::from_json(spec.kind, &default);
                assert_eq!(checked.as_ref(), Ok(&default), "{}", spec.key);
            }
        }
    }

    #[test]
    fn variables_have_one_name() {
        for (given, canonical) in [
            (
                "SERVICE_VOICE__TTS__ELEVENLABS__API_KEY",
                "SERVICE_VOICE__TTS__TTS_CLOUD_1__API_KEY",
            ),
            (
                "SERVICE_VOICE__STT__WHISPER_CLI__MODEL_PATH",
                "SERVICE_VOICE__STT__STT_LOCAL_2__MODEL_PATH",
            ),
            (
                "SERVICE_VOICE__STT__WHISPER__MODEL",
                "SERVICE_VOICE__STT__STT_CLOUD_1__MODEL",
            ),
            (
                "SERVICE_VOICE__TTS__PROVIDER",
                "SERVICE_VOICE__TTS__PROVIDER",
            ),
            (
                "SERVICE_VOICE__TTS__ELEVENLABS__NONE",
                "SERVICE_VOICE__TTS__ELEVENLABS__NONE",
            ),
        ] {
            assert_eq!(canonical_variable(given), canonical);
        }
    }
}
