//! A transcript as subtitles: `SubRip` and `WebVTT` (<https://www.w3.org/TR/webvtt1/>). Pure.

use super::Transcript;
use crate::stt::Segment;
use std::fmt::Write as _;

/// The longest cue that is made of words, in characters: two lines of a screen.
const MAX_CUE_CHARACTERS: usize = 84;
/// The same in seconds.
const MAX_CUE_SECONDS: f64 = 7.0;
/// A pause between two words that ends a cue, in seconds.
const PAUSE_SECONDS: f64 = 1.0;

impl Transcript {
    /// As `SubRip`.
    pub fn srt(&self) -> String {
        let mut text = String::new();
        for (number, cue) in (1..).zip(self.cues()) {
            let (start, end) = (moment(cue.start, ','), moment(cue.end, ','));
            let words = lines(&cue.text);
            let _ = write!(text, "{number}\n{start} --> {end}\n{words}\n\n");
        }
        text
    }

    /// As `WebVTT`.
    pub fn vtt(&self) -> String {
        let mut text = String::from("WEBVTT\n\n");
        for cue in self.cues() {
            let (start, end) = (moment(cue.start, '.'), moment(cue.end, '.'));
            let words = escaped(&lines(&cue.text));
            let _ = write!(text, "{start} --> {end}\n{words}\n\n");
        }
        text
    }

    /// What is shown together: segments, else words that fit, else everything at once.
    fn cues(&self) -> Vec<Segment> {
        let cues = if self.segments.is_empty() {
            self.cues_of_words()
        } else {
            self.segments.clone()
        };
        let is_shown = |cue: &Segment| !cue.text.trim().is_empty();
        cues.into_iter().filter(is_shown).map(forwards).collect()
    }

    fn cues_of_words(&self) -> Vec<Segment> {
        if self.words.is_empty() {
            return vec![Segment {
                text: self.text.clone(),
                start: 0.0,
                end: self.duration_seconds,
            }];
        }
        let mut cues: Vec<Segment> = Vec::new();
        for word in &self.words {
            let fits = |cue: &&mut Segment| {
                let length = cue.text.chars().count() + 1 + word.word.chars().count();
                length <= MAX_CUE_CHARACTERS
                    && word.end - cue.start <= MAX_CUE_SECONDS
                    && word.start - cue.end < PAUSE_SECONDS
            };
            match cues.last_mut().filter(fits) {
                Some(cue) => {
                    cue.text.push(' ');
                    cue.text.push_str(word.word.trim());
                    cue.end = word.end;
                }
                None => cues.push(Segment {
                    text: word.word.trim().to_owned(),
                    start: word.start,
                    end: word.end,
                }),
            }
        }
        cues
    }
}

/// A cue that does not end before it begins.
fn forwards(mut cue: Segment) -> Segment {
    cue.start = if cue.start.is_finite() { cue.start.max(0.0) } else { 0.0 };
    cue.end = if cue.end.is_finite() { cue.end.max(cue.start) } else { cue.start };
    cue
}

/// `01:02:03,004`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative and not endless by now"
)]
fn moment(seconds: f64, point: char) -> String {
    let millis = (seconds * 1000.0).round() as u64;
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}{point}{millis:03}")
}

/// An empty line would end the cue, and `-->` be taken for times.
fn lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    lines.join("\n").replace("-->", "->")
}

/// Text in a cue of `WebVTT` knows `&` and `<` as beginnings of something else.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::SttId;
    use crate::stt::Word;

    fn transcript(text: &str) -> Transcript {
        Transcript {
            text: text.to_owned(),
            language: "en".to_owned(),
            confidence: None,
            duration_seconds: 3723.5,
            words: Vec::new(),
            segments: Vec::new(),
            provider: SttId::OpenAi,
        }
    }

    fn segment(text: &str, start: f64, end: f64) -> Segment {
        Segment {
            text: text.to_owned(),
            start,
            end,
        }
    }

    #[test]
    fn segments_become_cues() {
        let of = Transcript {
            segments: vec![
                segment(" Tom & Jerry <3 \n\n a --> b ", 0.0, 1.2345),
                segment("  ", 2.0, 3.0),
                segment("The end.", 3599.9996, 3.0),
            ],
            ..transcript("")
        };
        assert_eq!(
            of.srt(),
            "1\n00:00:00,000 --> 00:00:01,235\nTom & Jerry <3\na -> b\n\n\
             2\n01:00:00,000 --> 01:00:00,000\nThe end.\n\n"
        );
        assert_eq!(
            of.vtt(),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.235\nTom &amp; Jerry &lt;3\na -&gt; b\n\n\
             01:00:00.000 --> 01:00:00.000\nThe end.\n\n"
        );
    }

    #[test]
    fn without_times_there_is_one_cue() {
        assert_eq!(
            transcript("Hello.").srt(),
            "1\n00:00:00,000 --> 01:02:03,500\nHello.\n\n"
        );
        assert_eq!(transcript(" ").srt(), "");
        assert_eq!(transcript("").vtt(), "WEBVTT\n\n");
    }

    #[test]
    fn words_are_put_together_until_they_are_too_many_or_somebody_pauses() {
        let word = |n: f64, text: &str| Word {
            word: text.to_owned(),
            start: n,
            end: n + 0.4,
        };
        let mut words: Vec<Word> = (0..4).map(|n| word(f64::from(n) * 0.5, "word")).collect();
        words.push(word(3.0, "later"));
        let of = Transcript {
            words,
            ..transcript("")
        };
        let texts: Vec<String> = of.cues().into_iter().map(|cue| cue.text).collect();
        assert_eq!(texts, ["word word word word", "later"]);
        let long = Transcript {
            words: (0..30).map(|n| word(f64::from(n) * 0.1, "abcdefgh")).collect(),
            ..transcript("")
        };
        let cues = long.cues();
        // Nine words and the spaces between them are 80 characters; a tenth would be 89.
        assert_eq!(cues[0].text.chars().count(), 80);
        assert_eq!(cues.len(), 4);
        let slow = Transcript {
            words: (0..20).map(|n| word(f64::from(n), "a")).collect(),
            ..transcript("")
        };
        assert!(slow.cues().iter().all(|cue| cue.end - cue.start <= MAX_CUE_SECONDS));
    }
}
