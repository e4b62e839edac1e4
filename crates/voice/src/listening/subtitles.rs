//! A transcript as subtitles. Pure.
//!
//! `SubRip` has no standard; what players read is at <https://matroska.org/technical/subtitles.html#srt-subtitles>.
//! `WebVTT` is at <https://www.w3.org/TR/webvtt1/>.

use super::transcribe::Transcript;
use crate::stt::{Segment, Word};
use std::fmt::Write as _;

/// The most characters that stand together when words are put into lines: two lines on a screen.
const MAX_CUE_CHARACTERS: usize = 84;
/// The longest that words stand together.
const MAX_CUE_SECONDS: f64 = 7.0;
/// A silence that ends a cue.
const SILENCE_SECONDS: f64 = 1.0;
/// How long a text is shown when nobody knows when it was said.
const UNKNOWN_SECONDS: f64 = 1.0;
/// Hours have two digits at least; more than this is no recording.
const MAX_SECONDS: f64 = 3_600_000.0;

/// How subtitles are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubtitleFormat {
    /// `SubRip`.
    Srt,
    /// `WebVTT`.
    Vtt,
}

impl Transcript {
    /// The transcript as subtitles: by the provider's segments, else by its words, else as one.
    pub fn subtitles(&self, format: SubtitleFormat) -> String {
        let cues = if !self.segments.is_empty() {
            self.segments.clone()
        } else if self.words.is_empty() {
            vec![Segment {
                text: self.text.clone(),
                start: 0.0,
                end: self.duration_seconds.max(UNKNOWN_SECONDS),
            }]
        } else {
            grouped(&self.words)
        };
        write(&cues, format)
    }
}

/// Words that stand together on the screen.
fn grouped(words: &[Word]) -> Vec<Segment> {
    let mut cues: Vec<Segment> = Vec::new();
    for word in words {
        let text = word.word.trim();
        match cues.last_mut().filter(|cue| fits(cue, word, text)) {
            Some(cue) => {
                let _ = write!(cue.text, " {text}");
                cue.end = word.end;
            }
            None => cues.push(Segment {
                text: text.to_owned(),
                start: word.start,
                end: word.end,
            }),
        }
    }
    cues
}

fn fits(cue: &Segment, word: &Word, text: &str) -> bool {
    cue.text.chars().count() + 1 + text.chars().count() <= MAX_CUE_CHARACTERS
        && word.end - cue.start <= MAX_CUE_SECONDS
        && word.start - cue.end < SILENCE_SECONDS
        && !cue.text.ends_with(['.', '!', '?', '…', '。', '！', '？'])
}

fn write(cues: &[Segment], format: SubtitleFormat) -> String {
    let mut all = match format {
        SubtitleFormat::Srt => String::new(),
        SubtitleFormat::Vtt => "WEBVTT\n\n".to_owned(),
    };
    let mut number = 0;
    for cue in cues {
        // A blank line would end the cue.
        let text = cue.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            continue;
        }
        number += 1;
        let start = milliseconds(cue.start);
        let end = milliseconds(cue.end).max(start + 1);
        let (start, end, text) = match format {
            SubtitleFormat::Srt => {
                let _ = writeln!(all, "{number}");
                (time(start, ','), time(end, ','), text.replace("-->", "->"))
            }
            SubtitleFormat::Vtt => (time(start, '.'), time(end, '.'), escaped(&text)),
        };
        let _ = write!(all, "{start} --> {end}\n{text}\n\n");
    }
    all
}

/// What would be markup (section 4.2.2 of `WebVTT`).
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "within bounds by now"
)]
fn milliseconds(seconds: f64) -> u64 {
    // What is no number becomes the beginning.
    let seconds = seconds.clamp(0.0, MAX_SECONDS);
    (seconds * 1000.0).round() as u64
}

fn time(milliseconds: u64, point: char) -> String {
    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000);
    let (minutes, hours) = (seconds / 60 % 60, seconds / 3600);
    format!(
        "{hours:02}:{minutes:02}:{:02}{point}{rest:03}",
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SttId;
    use proptest::prelude::*;

    fn transcript(text: &str) -> Transcript {
        Transcript {
            text: text.to_owned(),
            language: "en".to_owned(),
            confidence: None,
            duration_seconds: 2.5,
            words: Vec::new(),
            segments: Vec::new(),
            provider: SttId::OpenAi,
        }
    }

    fn segment(text: &str, start: f64, end: f64) -> Segment {
        let text = text.to_owned();
        Segment { text, start, end }
    }

    fn word(word: &str, start: f64, end: f64) -> Word {
        let word = word.to_owned();
        Word { word, start, end }
    }

    #[test]
    fn segments_are_cues() {
        let mut heard = transcript("a b");
        heard.segments = vec![
            segment(" Hello\n\nthere ", 0.0, 1.2346),
            segment("", 1.3, 1.4),
            segment("a <b> & --> c", 3661.5, 3661.5),
        ];
        assert_eq!(
            heard.subtitles(SubtitleFormat::Srt),
            "1\n00:00:00,000 --> 00:00:01,235\nHello there\n\n\
             2\n01:01:01,500 --> 01:01:01,501\na <b> & -> c\n\n"
        );
        assert_eq!(
            heard.subtitles(SubtitleFormat::Vtt),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.235\nHello there\n\n\
             01:01:01.500 --> 01:01:01.501\na &lt;b&gt; &amp; --&gt; c\n\n"
        );
    }

    #[test]
    fn words_are_put_together() {
        let mut heard = transcript("");
        heard.words = vec![
            word("One", 0.0, 0.3),
            word("two.", 0.3, 0.6),
            word("Three", 0.7, 1.0),
            word("four", 2.0, 2.2),
            word("five", 2.9, 9.0),
            word("six", 9.0, 9.01),
        ];
        let lines = heard.subtitles(SubtitleFormat::Srt);
        let texts: Vec<&str> = lines.lines().skip(2).step_by(4).collect();
        // Ended by a sentence, by a silence of one second, by seven seconds.
        assert_eq!(texts, ["One two.", "Three", "four five", "six"]);
        let long: Vec<Word> = (0..20).map(|_| word("123456789", 0.0, 0.0)).collect();
        let counts: Vec<usize> = grouped(&long).iter().map(|cue| cue.text.len()).collect();
        assert_eq!(counts, [79, 79, 39]);
    }

    #[test]
    fn without_times_all_is_one() {
        let heard = transcript("Hello.");
        let expected = "1\n00:00:00,000 --> 00:00:02,500\nHello.\n\n";
        assert_eq!(heard.subtitles(SubtitleFormat::Srt), expected);
        let mut silent = transcript(" ");
        silent.duration_seconds = 0.0;
        assert_eq!(silent.subtitles(SubtitleFormat::Srt), "");
        assert_eq!(silent.subtitles(SubtitleFormat::Vtt), "WEBVTT\n\n");
    }

    proptest! {
        #[test]
        fn every_cue_has_its_lines(
            given in proptest::collection::vec(("\\PC{0,20}", any::<f64>(), any::<f64>()), 0..8)
        ) {
            let cues: Vec<Segment> =
                given.iter().map(|(text, start, end)| segment(text, *start, *end)).collect();
            let kept = cues.iter().filter(|cue| !cue.text.trim().is_empty()).count();
            for format in [SubtitleFormat::Srt, SubtitleFormat::Vtt] {
                let text = write(&cues, format);
                prop_assert_eq!(text.matches(" --> ").count(), kept);
                prop_assert_eq!(text.contains("\n\n\n"), false);
            }
        }
    }
}
