use super::feed::Feed;
use super::script::Script;
use crate::text::markup::MarkupFilter;
use crate::text::speakable;

/// Returns the persona and text of each spoken part of an answer that arrives in these pieces.
fn spoken<'a>(
    speaks_untagged: bool,
    pieces: impl IntoIterator<Item = &'a str>,
) -> Vec<(String, String)> {
    let (mut filter, mut feed) = (MarkupFilter::new(), Feed::new(speaks_untagged));
    let mut script = Script::default();
    let mut parts = Vec::new();
    for piece in pieces {
        let shown = filter.push(piece);
        for step in feed.take(&shown, filter.places()) {
            script.take(step);
        }
        parts.extend(std::iter::from_fn(|| script.next(600)));
    }
    let (rest, places) = filter.finish_with_places();
    for step in feed.finish(&rest, &places) {
        script.take(step);
    }
    parts.extend(std::iter::from_fn(|| script.next(600)));
    let part = parts.into_iter();
    part.map(|part| (part.persona.unwrap_or_default(), part.text))
        .collect()
}

/// Returns the text cut in two at every position, and cut into single characters.
fn cuts(text: &str) -> Vec<Vec<&str>> {
    let places = (0..=text.len()).filter(|at| text.is_char_boundary(*at));
    let pair = |at| {
        let (a, b) = text.split_at(at);
        vec![a, b]
    };
    places.map(pair).chain([text.split("").collect()]).collect()
}

#[test]
fn code_markup_and_hidden_text_are_never_spoken_wherever_the_stream_is_cut() {
    // Inside hidden text, a marker is inserted only where it excludes nothing, because there it
    // would begin the spoken part.
    let text = |marker: &str| {
        format!(
            "Here is what you asked for today.\n\n```rust\nlet secret = 1; // And more. Words.\n\
             [[tts]]\n```\n\n[[tts:persona=ada]] This is the explanation of it. <!-- A secret. \
             More of it. --> It goes on here.\n\n~~~\na secret\n~~~\n\n<!--\nsecret\n\n\
             {marker} secret\n-->\n\nThe last words are these ones. [[/tts]]"
        )
    };
    for (speaks_untagged, marker) in [(true, "[[tts:persona=bob]]"), (false, "")] {
        for pieces in cuts(&text(marker)) {
            let parts = spoken(speaks_untagged, pieces.iter().copied());
            // A comment in a sentence is removed when the sentence is sent.
            let said: Vec<String> = parts.iter().map(|(_, text)| speakable(text)).collect();
            let said = said.join(" ");
            for hidden in ["secret", "tts", "let", "--"] {
                assert!(!said.contains(hidden), "{pieces:?}: {said}");
            }
            for words in [
                "explanation of it",
                "It goes on",
                "The last words are these ones.",
            ] {
                assert!(said.contains(words), "{pieces:?}: {said}");
            }
            assert_eq!(said.contains("Here is what"), speaks_untagged, "{said}");
        }
    }
}

#[test]
fn an_answer_without_words_to_speak_is_silent() {
    for nothing in [
        "",
        "```\nlet x = 1;\n```",
        "```\nlet x = 1;\n```\n\n…",
        "[^1]: A note.",
        "<!-- x. -->",
    ] {
        for pieces in cuts(nothing) {
            assert_eq!(spoken(true, pieces), [], "{nothing:?}");
        }
    }
}

#[test]
fn a_persona_speaks_from_its_marker_on() {
    let text = "The first one says this. And this too. [[tts:persona=ada]]Another one says that. \
                She says more.\n\n[[tts:persona=bob]]\n\n- A list.\n- Of two.";
    for pieces in cuts(text) {
        let parts = spoken(true, pieces);
        let of = |wanted: &str| -> String {
            let texts = parts.iter().filter(|(persona, _)| persona == wanted);
            texts
                .map(|(_, text)| text.trim())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(of(""), "The first one says this. And this too.");
        assert_eq!(of("ada"), "Another one says that. She says more.");
        assert_eq!(of("bob"), "- A list.\n- Of two.");
    }
    // Inside markup, the change of persona takes effect at the end of the markup.
    let inside = "**Bold [[tts:persona=ada]]and more** of it. The next sentence is hers.";
    let parts = spoken(true, [inside]);
    assert_eq!(parts[0].1, "**Bold and more** of it.");
    assert_eq!(
        parts[1],
        ("ada".to_owned(), "The next sentence is hers.".to_owned())
    );
}

#[test]
fn parts_are_known_as_soon_as_the_next_sentence_begins() {
    let mut script = Script::default();
    let mut feed = Feed::new(true);
    let places = MarkupFilter::new().places().clone();
    for step in feed.take("The first sentence is here. ", &places) {
        script.take(step);
    }
    assert_eq!(script.next(600), None);
    for step in feed.take("And", &places) {
        script.take(step);
    }
    assert_eq!(
        script.next(600).unwrap().text,
        "The first sentence is here."
    );
    assert!(!script.has_next(600) && !script.is_complete());
}
