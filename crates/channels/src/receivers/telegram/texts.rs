//! The texts of the last messages, which show whether an edit changed a text.

use std::collections::VecDeque;

/// The maximum number of messages in memory.
const REMEMBERED: usize = 256;

/// Telegram's IDs of a conversation and of a message in it.
type MessageKey = (i64, i64);

#[derive(Debug, Default)]
pub(super) struct Texts(VecDeque<(MessageKey, String)>);

impl Texts {
    /// Stores a text. Returns the earlier text of the same message.
    pub(super) fn remember(&mut self, key: MessageKey, text: &str) -> Option<String> {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| *known == key) {
            return Some(std::mem::replace(known, text.to_owned()));
        }
        if self.0.len() >= REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((key, text.to_owned()));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_compared_with_the_text_before_it() {
        let mut texts = Texts::default();
        assert_eq!(texts.remember((1, 1), "a"), None);
        assert_eq!(texts.remember((1, 1), "b").as_deref(), Some("a"));
        assert_eq!(texts.remember((1, 1), "b").as_deref(), Some("b"));
        for id in 0..300 {
            texts.remember((2, id), "c");
        }
        assert_eq!(texts.0.len(), REMEMBERED);
        assert_eq!(texts.remember((1, 1), "b"), None);
    }
}
