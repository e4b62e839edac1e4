//! Tests of the parent module.

use super::*;
use crate::text::markup::MarkupFilter;

/// Returns the forwarded text for each piece and at the end. `>` begins a stretch, and `<` closes
/// it.
fn fed(speaks_untagged: bool, pieces: &[&str]) -> Vec<String> {
    let (mut filter, mut feed) = (MarkupFilter::new(), Feed::new(speaks_untagged));
    let mut passed = Vec::new();
    for piece in pieces {
        let shown = filter.push(piece);
        passed.push(written(feed.take(&shown, filter.places())));
    }
    let (rest, places) = filter.finish_with_places();
    passed.push(written(feed.finish(&rest, &places)));
    passed
}

fn written(steps: Vec<Step>) -> String {
    let one = |step| match step {
        Step::Begin(None) => ">".to_owned(),
        Step::Begin(Some(persona)) => format!(">({persona})"),
        Step::Persona(persona) => format!("({persona})"),
        Step::Text(text) => text,
        Step::Close => "<".to_owned(),
        Step::End => String::new(),
    };
    steps.into_iter().map(one).collect()
}

#[test]
fn without_markers_all_text_passes_at_once_or_none() {
    let pieces = ["One. ", "Two."];
    assert_eq!(fed(true, &pieces), [">One.", " Two.", ""]);
    assert_eq!(fed(false, &pieces), ["", "", ""]);
}

#[test]
fn markers_exclude_nothing_where_everything_is_spoken() {
    let pieces = ["One. ", "[[tts]]Two.", "[[/tts]]", " Three."];
    assert_eq!(fed(true, &pieces), [">One.", " Two.", "", " Three.", ""]);
    assert_eq!(fed(true, &["Well. [[tts]]", "Listen."])[1], " Listen.");
}

#[test]
fn after_a_marker_at_the_beginning_text_passes_at_once() {
    assert_eq!(
        fed(false, &["[[tts]]One. ", "Two."]),
        [">One.", " Two.", ""]
    );
    let pieces = [
        "[[tts]]One.",
        "[[/tts]] Not this. ",
        "[[tts]]",
        "Two.",
        "[[/tts]]",
        " End.",
    ];
    assert_eq!(
        fed(false, &pieces),
        [">One.", "<", "", "", "> Two.<", "", ""]
    );
    // Text before a second opening marker is spoken too.
    let pieces = ["[[tts]]One. ", "[[tts]]Two. ", "[[/tts]]", "Not this."];
    assert_eq!(fed(false, &pieces), [">One.", "", "<> Two.<", "", ""]);
    assert_eq!(fed(false, &pieces[..2]), [">One.", "", " Two. "]);
}

#[test]
fn a_later_marker_waits_for_its_pair_or_the_end() {
    let pieces = ["Well. ", "[[tts]]", "Listen."];
    assert_eq!(fed(false, &pieces), ["", "", "", ">Well. Listen."]);
    let pieces = [
        "Well. ",
        "[[tts]]Listen.",
        "[[/tts]]",
        " End. ",
        "[[tts]]Not closed.",
    ];
    assert_eq!(fed(false, &pieces), ["", "", "> Listen.<", "", "", ""]);
}

#[test]
fn a_persona_speaks_from_its_marker_on() {
    let pieces = [
        "One. ",
        "[[tts:persona=ada]]Two. [[tts]]Three. ",
        "[[tts:persona=bob]]",
        "Four.",
    ];
    assert_eq!(
        fed(true, &pieces),
        [">One.", "(ada) Two. Three.", "", "(bob) Four.", ""]
    );
    assert_eq!(fed(true, &["[[tts:persona=ada]]One."])[0], ">(ada)One.");
    let late = ["Well. [[tts:persona=ada]]Listen."];
    assert_eq!(fed(false, &late)[1], ">Well.(ada) Listen.");
    let pairs = "[[tts:persona=ada]]A.[[/tts]] No. [[tts:persona=bob]]B.[[/tts]][[tts]]C.[[/tts]]";
    assert_eq!(fed(false, &[pairs])[0], ">(ada)A.<>(bob) B.<>(bob)C.<");
}

#[test]
fn how_the_text_arrives_makes_no_difference() {
    let texts = [
        "Well. [[tts:persona=ada]]Listen.[[/tts]] No. `[[tts]]` [[tts]]And this.[[/tts]] No.",
        "[[tts]]One. [[tts:persona=bob]]Two. [[/tts]] Not. ```\n[[tts]]\n``` [[tts]]open",
        "[[tts]] [[/tts]]One. [[tts]]Two",
        "[[tts]]One. `[[tts]] Two. [[/tts]]` Three.",
    ];
    for text in texts {
        for speaks_untagged in [true, false] {
            let whole = fed(speaks_untagged, &[text]).concat();
            for cut in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let (a, b) = text.split_at(cut);
                assert_eq!(fed(speaks_untagged, &[a, b]).concat(), whole, "{a:?} {b:?}");
            }
            let single: Vec<&str> = text.split("").collect();
            assert_eq!(fed(speaks_untagged, &single).concat(), whole);
        }
    }
}
