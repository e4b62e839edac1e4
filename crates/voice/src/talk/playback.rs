//! Computes from the clock which part of a spoken answer has been heard. Audio is sent before its playback time.

use gatehouse_agents::HeardMessage;
use gatehouse_domain::id::MessageId;
use std::time::Duration;
use tokio::time::Instant;
use unicode_segmentation::UnicodeSegmentation;

/// The maximum time that audio is sent before its playback. The player needs a reserve in case the network stalls. A
/// larger reserve would be discarded when the person interrupts.
pub(super) const AHEAD: Duration = Duration::from_secs(2);

/// A part of an answer.
#[derive(Debug)]
struct Part {
    message: MessageId,
    text: String,
    begins: Option<Instant>,
    length: Duration,
    /// Whether all audio of the part was sent.
    is_complete: bool,
}

/// The parts that were sent, and the time when the last one ends.
#[derive(Debug, Default)]
pub(super) struct Playback {
    parts: Vec<Part>,
    ends: Option<Instant>,
}

impl Playback {
    /// Records that a part begins.
    pub(super) fn begin(&mut self, message: MessageId, text: String) {
        if let Some(last) = self.parts.last_mut() {
            last.is_complete = true;
        }
        self.parts.push(Part {
            message,
            text,
            begins: None,
            length: Duration::ZERO,
            is_complete: false,
        });
    }

    /// Records that audio of the latest part was sent.
    pub(super) fn add(&mut self, length: Duration, now: Instant) {
        let begins = self.ends.filter(|ends| *ends > now).unwrap_or(now);
        self.ends = Some(begins + length);
        if let Some(part) = self.parts.last_mut() {
            part.begins.get_or_insert(begins);
            part.length += length;
        }
    }

    /// Records that all audio was sent.
    pub(super) fn end(&mut self) {
        if let Some(last) = self.parts.last_mut() {
            last.is_complete = true;
        }
    }

    /// Returns when more audio may be sent.
    pub(super) fn more_at(&self, now: Instant) -> Instant {
        let early = self.ends.and_then(|ends| ends.checked_sub(AHEAD));
        early.unwrap_or(now)
    }

    /// Returns whether everything that was sent has been played.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.ends.is_none_or(|ends| ends <= now)
    }

    /// Returns the part of each message that has been heard at `now`.
    pub(super) fn heard(&self, now: Instant) -> Vec<HeardMessage> {
        let mut all: Vec<HeardMessage> = Vec::new();
        for part in &self.parts {
            let played = part.begins.map_or(Duration::ZERO, |begins| {
                now.saturating_duration_since(begins)
            });
            let is_whole = part.is_complete && played >= part.length;
            let text = if is_whole {
                part.text.clone()
            } else {
                beginning(&part.text, played, part.length)
            };
            match all.last_mut().filter(|last| last.message == part.message) {
                None => all.push(HeardMessage {
                    message: part.message.clone(),
                    text,
                    is_whole,
                }),
                Some(last) => {
                    if !last.text.is_empty() && !text.is_empty() {
                        last.text.push(' ');
                    }
                    last.text.push_str(&text);
                    last.is_whole &= is_whole;
                }
            }
        }
        all
    }
}

/// Returns the words that were spoken after `played`, if the text is spoken at an even pace.
fn beginning(text: &str, played: Duration, length: Duration) -> String {
    let characters = text.chars().count() as u128;
    let length = length.as_millis().max(1);
    let spoken = (characters * played.as_millis() / length).min(characters);
    let spoken = usize::try_from(spoken).unwrap_or(usize::MAX);
    let Some((cut, _)) = text.char_indices().nth(spoken) else {
        return text.to_owned();
    };
    // A word that was cut off counts as not heard. Not every script has spaces between words.
    let words = text.split_word_bound_indices();
    let starts = words.map(|(start, _)| start);
    let end = starts.take_while(|start| *start < cut).last();
    text.get(..end.unwrap_or(0))
        .unwrap_or_default()
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn message(id: &str) -> MessageId {
        MessageId::from_text(id)
    }

    fn heard(playback: &Playback, at: Instant) -> Vec<(String, String, bool)> {
        let of = |heard: HeardMessage| (heard.message.to_string(), heard.text, heard.is_whole);
        playback.heard(at).into_iter().map(of).collect()
    }

    fn said(message: &str, text: &str, is_whole: bool) -> (String, String, bool) {
        (message.to_owned(), text.to_owned(), is_whole)
    }

    #[test]
    fn what_was_heard_follows_the_clock() {
        let start = Instant::now();
        let mut playback = Playback::default();
        assert!(playback.is_over(start));
        playback.begin(message("a"), "One two three four.".to_owned());
        playback.add(1000 * MS, start);
        playback.begin(message("a"), "Five six.".to_owned());
        playback.add(500 * MS, start);
        playback.begin(message("b"), "Seven.".to_owned());
        playback.add(500 * MS, start);
        let b = said("b", "", false);
        assert_eq!(heard(&playback, start), [said("a", "", false), b.clone()]);
        let half = heard(&playback, start + 500 * MS);
        assert_eq!(half, [said("a", "One two", false), b.clone()]);
        let most = heard(&playback, start + 1250 * MS);
        assert_eq!(most, [said("a", "One two three four.", false), b.clone()]);
        let first = heard(&playback, start + 1500 * MS);
        assert_eq!(first, [said("a", "One two three four. Five six.", true), b]);
        // More of the last part may follow.
        let all = heard(&playback, start + 2000 * MS);
        assert_eq!(all[1], said("b", "Seven.", false));
        playback.end();
        assert!(!heard(&playback, start + 1999 * MS)[1].2);
        assert!(heard(&playback, start + 2000 * MS)[1].2);
        assert!(playback.is_over(start + 2000 * MS));
        assert!(!playback.is_over(start + 1999 * MS));
    }

    #[test]
    fn what_was_heard_ends_between_two_words_in_any_script() {
        let whole = Duration::from_secs(10);
        for (text, tenths, expected) in [
            ("今天天气很好，一起走吧", 0, ""),
            ("今天天气很好，一起走吧", 4, "今天天"),
            ("今天天气很好，一起走吧", 10, "今天天气很好，一起走吧"),
            ("カタカナとひらがな。", 3, ""),
            ("カタカナとひらがな。", 6, "カタカナと"),
            ("Don't stop me now.", 2, ""),
            ("Don't stop me now.", 4, "Don't"),
            // One character of seven code points.
            ("👨\u{200d}👩\u{200d}👧\u{200d}👦👍👍👍", 6, ""),
        ] {
            let heard = beginning(text, whole * tenths / 10, whole);
            assert_eq!(heard, expected, "{text} {tenths}");
        }
    }

    #[test]
    fn audio_is_sent_two_seconds_ahead_and_a_pause_is_no_playback() {
        let start = Instant::now();
        let mut playback = Playback::default();
        assert!(playback.more_at(start) <= start);
        playback.begin(message("a"), "One.".to_owned());
        playback.add(3000 * MS, start);
        assert_eq!(playback.more_at(start), start + 1000 * MS);
        // The model paused: the next part begins when it is sent.
        playback.begin(message("a"), "Two.".to_owned());
        playback.add(1000 * MS, start + 5000 * MS);
        assert!(!playback.is_over(start + 5999 * MS));
        assert_eq!(
            heard(&playback, start + 5000 * MS),
            [said("a", "One.", false)]
        );
    }
}
