//! `texts.json`: texts that the gateway has in English and the web UI has in other languages, by ID or by the English
//! text. The tests of the web UI compare their texts with it.

use gatehouse_sources::profile::{self, Profile};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) fn texts() -> Value {
    let channels: Vec<Value> = gatehouse_channels::type_names()
        .into_iter()
        .map(|it| json!({ "type": it.kind, "fields": it.fields, "options": it.options }))
        .collect();
    let settings = gatehouse_config::describe().iter();
    let settings: BTreeSet<&str> = settings.map(|it| it.doc).collect();
    let senders: Vec<Value> = profile::all().iter().map(|it| sender(it)).collect();
    json!({
        "checks": gatehouse_services::doctor::IDS,
        "channels": channels,
        "senders": senders,
        "settings": settings,
        "voice": voice(),
    })
}

/// The placeholders of `sentences` come from `gatehouse_sources::summary`.
fn sender(profile: &Profile) -> Value {
    let events: Vec<&str> = profile.catalog().map(|event| event.description).collect();
    let groups = profile.summary.sentences.iter().copied();
    let sentences: Vec<&str> = groups.flatten().map(|(_, sentence)| *sentence).collect();
    json!({
        "id": profile.id,
        "events": events,
        "guide": profile.guide,
        "replay_note": profile.replay.note,
        "sentences": sentences,
    })
}

#[cfg(feature = "voice")]
fn voice() -> Vec<Value> {
    use gatehouse_voice::{About, ProviderId, SttId, TtsId};
    let provider = |about: &'static About| json!({ "id": about.id, "settings": about.settings });
    let tts = TtsId::ALL.iter().map(|id| id.about());
    let stt = SttId::ALL.iter().map(|id| id.about());
    tts.chain(stt).map(provider).collect()
}

#[cfg(not(feature = "voice"))]
const fn voice() -> Vec<Value> {
    Vec::new()
}
