//! Tests that the capability tables in `docs/API-voice.md` match the code.

use gatehouse_audio::{Format, Kind};
use gatehouse_voice::{Lack, SttId, TtsId};

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
const LISTENERS: &str = "| listens | takes as it is | largest request | times | confidence | hears which language | hint | models |";

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
    let can = id.capability();
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
    let named = named.into_iter().filter(|(_, lack)| !can.is_lacking(*lack));
    let named: Vec<&str> = named.map(|(name, _)| name).collect();
    format!(
        "| `{id}` | {} | {} | {speed} | {} | {} | {} | {} | {} | {} |",
        or_none(&native),
        longest.join(", "),
        or_none(&named),
        yes(can.is_lacking(Lack::Stability)),
        yes(can.is_lacking(Lack::Pitch)),
        yes(can.is_lacking(Lack::SpokenLanguage)),
        yes(can.is_lacking(Lack::Instructions)),
        yes(can.is_lacking(Lack::Streaming)),
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
    let can = id.capability();
    let kinds = KINDS.iter().filter(|kind| (can.accepts)(**kind));
    let kinds: Vec<&str> = kinds
        .map(|kind| match kind {
            Kind::OggOpus => "Ogg Opus",
            Kind::Ogg => "Ogg",
            other => other.as_str(),
        })
        .collect();
    let times = [("words", Lack::WordTimes), ("segments", Lack::SegmentTimes)];
    let times = times.into_iter().filter(|(_, lack)| !can.is_lacking(*lack));
    let times: Vec<&str> = times.map(|(name, _)| name).collect();
    format!(
        "| `{id}` | {} | {} | {} | {} | {} | {} | {} |",
        or_none(&kinds),
        size(can.max_bytes),
        or_none(&times),
        yes(can.is_lacking(Lack::Confidence)),
        yes(can.is_lacking(Lack::HeardLanguage)),
        yes(can.is_lacking(Lack::Hint)),
        yes(can.is_lacking(Lack::Model)),
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
