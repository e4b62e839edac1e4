//! Alternative spellings of keys. A provider's table may have the vendor's name, and a renamed key may have its old
//! name. Only the canonical spelling (the ID, the new name) is stored and shown. This module converts the
//! alternative spelling to it.

use crate::key::{KeySpec, Named};
use crate::section::voice::providers::SECTIONS;
use std::borrow::Cow;

/// Renamed keys: the old name and the current one.
pub(crate) const RENAMED: [(&str, &str); 1] = [("webhooks.workers", "webhooks.agent_workers")];

/// Returns the current name of a renamed key.
pub(crate) fn renamed(key: &str) -> Option<&'static str> {
    RENAMED
        .iter()
        .find(|(old, _)| *old == key)
        .map(|(_, new)| *new)
}

fn old_name(key: &str) -> Option<&'static str> {
    RENAMED
        .iter()
        .find(|(_, new)| *new == key)
        .map(|(old, _)| *old)
}

/// Returns the warning for an old name.
pub(crate) fn renamed_warning(place: &str, old: &str, new: &str) -> String {
    format!("{place}: `{old}` is the old name of `{new}`; use the new one")
}

/// Returns the canonical spelling of a key or section. Returns a key with only one spelling unchanged.
pub fn canonical_key(key: &str) -> Cow<'_, str> {
    if let Some(new) = renamed(key) {
        return Cow::Borrowed(new);
    }
    respelled(key, by_id).map_or(Cow::Borrowed(key), Cow::Owned)
}

/// Returns the alternative spelling of a key or section, if it has one.
pub(crate) fn other_spelling(key: &str) -> Option<String> {
    let name = renamed(key).or_else(|| old_name(key));
    name.map(str::to_owned)
        .or_else(|| respelled(key, by_id))
        .or_else(|| respelled(key, by_alias))
}

/// Returns the key's path with a vendor's name replaced by the ID.
pub(crate) fn canonical_path(path: &[String]) -> Cow<'_, [String]> {
    if let Some(new) = renamed(&path.join(".")) {
        return Cow::Owned(new.split('.').map(str::to_owned).collect());
    }
    let [first, second, name, rest @ ..] = path else {
        return Cow::Borrowed(path);
    };
    let section = format!("{first}.{second}");
    let Some(id) = SECTIONS
        .iter()
        .find(|(head, _)| *head == section)
        .and_then(|(_, providers)| by_id(providers, name))
    else {
        return Cow::Borrowed(path);
    };
    let mut path = vec![first.clone(), second.clone(), id.to_owned()];
    path.extend_from_slice(rest);
    Cow::Owned(path)
}

/// Returns the second variable that sets this key, if any.
pub(crate) fn other_variable(spec: &KeySpec) -> Option<String> {
    if let Some(old) = old_name(spec.key) {
        return Some(crate::key::variable(old));
    }
    let key = respelled(spec.key, by_alias)?;
    Some(crate::key::variable(&key))
}

/// Returns the sections with a second name, as (parent section, ID, vendor's name).
pub(crate) fn tables() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    SECTIONS.into_iter().flat_map(|(section, providers)| {
        providers
            .iter()
            .map(move |(id, alias)| (section, *id, *alias))
    })
}

type Respell = fn(&[Named], &str) -> Option<&'static str>;

fn by_id(providers: &[Named], name: &str) -> Option<&'static str> {
    providers
        .iter()
        .find(|(_, alias)| *alias == name)
        .map(|(id, _)| *id)
}

fn by_alias(providers: &[Named], name: &str) -> Option<&'static str> {
    providers
        .iter()
        .find(|(id, _)| *id == name)
        .map(|(_, alias)| *alias)
}

fn respelled(key: &str, respell: Respell) -> Option<String> {
    let (section, providers, rest) = SECTIONS.iter().find_map(|(section, providers)| {
        let rest = key.strip_prefix(section)?.strip_prefix('.')?;
        Some((section, providers, rest))
    })?;
    let (name, tail) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let name = respell(providers, name)?;
    Some(format!("{section}.{name}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_sections_have_one_spelling() {
        for (given, canonical) in [
            (
                "voice.tts.elevenlabs.api_key",
                "voice.tts.tts_cloud_1.api_key",
            ),
            ("voice.tts.elevenlabs", "voice.tts.tts_cloud_1"),
            (
                "voice.stt.whisper-cli.model_path",
                "voice.stt.stt_local_2.model_path",
            ),
            ("voice.stt.google.model", "voice.stt.stt_cloud_4.model"),
            ("voice.tts.google.voice", "voice.tts.tts_cloud_3.voice"),
            (
                "voice.tts.tts_cloud_1.api_key",
                "voice.tts.tts_cloud_1.api_key",
            ),
            ("voice.tts.whisper.model", "voice.tts.whisper.model"),
            ("voice.ttselevenlabs", "voice.ttselevenlabs"),
            (
                "models.providers.openai.kind",
                "models.providers.openai.kind",
            ),
            ("voice.tts", "voice.tts"),
            ("webhooks.workers", "webhooks.agent_workers"),
            ("webhooks.agent_workers", "webhooks.agent_workers"),
            ("", ""),
        ] {
            assert_eq!(canonical_key(given), canonical);
        }
        let (one, other) = (
            "voice.tts.piper.model_path",
            "voice.tts.tts_local_1.model_path",
        );
        assert_eq!(other_spelling(one).as_deref(), Some(other));
        assert_eq!(other_spelling(other).as_deref(), Some(one));
        assert_eq!(other_spelling("voice.tts.auto"), None);
    }
}
