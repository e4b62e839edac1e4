//! Tests that the tables of capabilities in `docs/API-voice.md` match the code.

use crate::lacks::{Lack, listener_lacks, speaker_lacks};
use gatehouse_audio::{Format, Kind};
use gatehouse_voice::{ProviderId, SttId, TtsId};

const DOCUMENT: &str = include_str!("../../../../docs/API-voice.md");
const KINDS: [Kind; 8] = [
    Kind::Mp3,
    Kind::Aac,
    Kind::M4a,
    Kind::Wav,
    Kind::Webm,
    Kind::OggOpus,
    Kind::Ogg,
    Kind::Flac,
];

const SPEAKERS: &str = "| speaks | its own formats | longest request | speed | voice, model | stability | pitch | language | instructions | streams |";
const LISTENERS: &str = "| listens | takes as it is | largest request | times | confidence | detects the language | hint | models | translates |";

fn or_none(list: &[&str]) -> String {
    if list.is_empty() {
        return "–".to_owned();
    }
    list.join(", ")
}

fn yes(lacks: bool) -> &'static str {
    if lacks { "–" } else { "yes" }
}

fn speaker(id: TtsId) -> String {
    let can = id.provider();
    let native: Vec<&str> = can
        .native
        .iter()
        .map(|format: &Format| format.as_str())
        .collect();
    let mut longest = Vec::new();
    if can.max_characters < usize::MAX {
        longest.push(format!("{} characters", can.max_characters));
    }
    if can.max_bytes < usize::MAX {
        longest.push(format!("{} bytes", can.max_bytes));
    }
    let speed = can.speed.as_ref();
    let speed = speed.map_or("–".to_owned(), |range| {
        format!("{}–{}", range.start(), range.end())
    });
    let named = [("voice", Lack::Voice), ("model", Lack::Model)];
    let named = named
        .into_iter()
        .filter(|(_, lack)| !speaker_lacks(id, *lack));
    let named: Vec<&str> = named.map(|(name, _)| name).collect();
    format!(
        "| `{id}` | {} | {} | {speed} | {} | {} | {} | {} | {} | {} |",
        or_none(&native),
        longest.join(", "),
        or_none(&named),
        yes(speaker_lacks(id, Lack::Stability)),
        yes(speaker_lacks(id, Lack::Pitch)),
        yes(speaker_lacks(id, Lack::SpokenLanguage)),
        yes(speaker_lacks(id, Lack::Instructions)),
        yes(speaker_lacks(id, Lack::Streaming)),
    )
}

fn size(bytes: usize) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{} MB", bytes / 1_000_000)
    }
}

fn listener(id: SttId) -> String {
    let can = id.provider();
    let kinds = KINDS.iter().filter(|kind| (can.accepts)(**kind));
    let kinds: Vec<&str> = kinds
        .map(|kind| match kind {
            Kind::OggOpus => "Ogg Opus",
            Kind::Ogg => "Ogg",
            other => other.as_str(),
        })
        .collect();
    let times = [("words", Lack::WordTimes), ("segments", Lack::SegmentTimes)];
    let times = times
        .into_iter()
        .filter(|(_, lack)| !listener_lacks(id, *lack));
    let times: Vec<&str> = times.map(|(name, _)| name).collect();
    format!(
        "| `{id}` | {} | {} | {} | {} | {} | {} | {} | {} |",
        or_none(&kinds),
        size(can.max_bytes),
        or_none(&times),
        yes(listener_lacks(id, Lack::Confidence)),
        yes(listener_lacks(id, Lack::HeardLanguage)),
        yes(listener_lacks(id, Lack::Hint)),
        yes(listener_lacks(id, Lack::Model)),
        yes(!can.translates()),
    )
}

fn is_documented(head: &str, rows: &[String]) {
    let columns = head.matches('|').count() - 1;
    let table = format!(
        "{head}\n{}|\n{}\n\n",
        "|---".repeat(columns),
        rows.join("\n")
    );
    assert!(
        DOCUMENT.contains(&table),
        "docs/API-voice.md should have:\n\n{table}"
    );
}

#[test]
fn what_speakers_can_do_is_documented() {
    let rows: Vec<String> = TtsId::ALL.iter().map(|id| speaker(*id)).collect();
    is_documented(SPEAKERS, &rows);
}

#[test]
fn what_listeners_can_do_is_documented() {
    let rows: Vec<String> = SttId::ALL.iter().map(|id| listener(*id)).collect();
    is_documented(LISTENERS, &rows);
}
