//! `texts.json`: the English texts of the gateway that the web UI translates. The tests of the web UI compare their
//! translations with this file.

use gatehouse_sources::profile::{self, Profile};
#[cfg(feature = "voice")]
use gatehouse_voice::About;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn texts() -> Value {
    let settings = gatehouse_config::describe().iter();
    let settings: BTreeSet<&str> = settings.map(|it| it.doc).collect();
    let senders: Vec<Value> = profile::all().iter().map(|it| sender(it)).collect();
    json!({
        "checks": gatehouse_services::doctor::IDS,
        "channels": gatehouse_channels::texts(),
        "names": names(),
        "senders": senders,
        "settings": settings,
        "voice": voice(),
    })
}

/// Returns the texts of a profile. The placeholders in `sentences` are those of `gatehouse_sources::summary`.
fn sender(profile: &Profile) -> Value {
    let events: Vec<&str> = profile.catalog().map(|event| event.description).collect();
    let groups = profile.summary.sentences.iter().copied();
    let sentences: Vec<&str> = groups.flatten().map(|(_, sentence)| *sentence).collect();
    json!({
        "id": profile.id,
        "about": profile.about,
        "events": events,
        "guide": profile.guide,
        "replay_note": profile.replay.note,
        "sentences": sentences,
    })
}

/// Returns the products that have neutral IDs, by ID.
fn names() -> BTreeMap<&'static str, &'static str> {
    let product = |it: &'static Profile| {
        let (_, product) = it.name.rsplit_once(" (")?;
        Some((it.id, product.strip_suffix(')')?))
    };
    let senders = profile::all().iter().filter_map(|it| product(it));
    senders.chain(voice_names()).collect()
}

#[cfg(feature = "voice")]
fn voice_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    providers().map(|about| (about.id, about.label))
}

#[cfg(feature = "voice")]
fn voice() -> BTreeSet<&'static str> {
    providers().flat_map(About::texts).collect()
}

#[cfg(feature = "voice")]
fn providers() -> impl Iterator<Item = &'static About> {
    use gatehouse_voice::{ProviderId, SttId, TtsId};
    let tts = TtsId::ALL.iter().map(|id| id.about());
    tts.chain(SttId::ALL.iter().map(|id| id.about()))
}

#[cfg(not(feature = "voice"))]
fn voice_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    std::iter::empty()
}

#[cfg(not(feature = "voice"))]
const fn voice() -> BTreeSet<&'static str> {
    BTreeSet::new()
}
