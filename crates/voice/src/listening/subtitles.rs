//! Converts a transcript to subtitles.

use super::transcript::Transcript;
use crate::subtitles;

/// A subtitle format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubtitleFormat {
    /// `SubRip`.
    Srt,
    /// `WebVTT`.
    Vtt,
}

impl Transcript {
    /// Returns subtitles from the provider's segments or words, or else a single cue.
    pub fn subtitles(&self, format: SubtitleFormat) -> String {
        let cues = subtitles::cues(
            &self.words,
            &self.segments,
            &self.text,
            self.duration_seconds,
        );
        match format {
            SubtitleFormat::Srt => subtitles::srt(&cues),
            SubtitleFormat::Vtt => subtitles::vtt(&cues),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SttId;
    use crate::stt::{Segment, Word};

    fn transcript(text: &str) -> Transcript {
        Transcript {
            text: text.to_owned(),
            language: "en".to_owned(),
            confidence: None,
            duration_seconds: 2.5,
            words: Vec::new(),
            segments: Vec::new(),
            provider: SttId::OpenAi,
            attempts: Vec::new(),
        }
    }

    #[test]
    fn a_transcript_is_written_by_the_times_it_has() {
        let mut recognized = transcript("Hello.");
        let whole = "1\n00:00:00,000 --> 00:00:02,500\nHello.\n\n";
        assert_eq!(recognized.subtitles(SubtitleFormat::Srt), whole);
        recognized.words = vec![Word {
            word: "Hello".to_owned(),
            start: 0.5,
            end: 1.0,
        }];
        let by_word = "WEBVTT\n\n00:00:00.500 --> 00:00:01.000\nHello\n\n";
        assert_eq!(recognized.subtitles(SubtitleFormat::Vtt), by_word);
        recognized.segments = vec![Segment {
            text: "Hello.".to_owned(),
            start: 0.4,
            end: 1.1,
        }];
        let by_segment = "WEBVTT\n\n00:00:00.400 --> 00:00:01.100\nHello.\n\n";
        assert_eq!(recognized.subtitles(SubtitleFormat::Vtt), by_segment);
    }

    #[test]
    fn silence_has_no_cues() {
        let silent = transcript(" ");
        assert_eq!(silent.subtitles(SubtitleFormat::Srt), "");
        assert_eq!(silent.subtitles(SubtitleFormat::Vtt), "WEBVTT\n\n");
    }
}
