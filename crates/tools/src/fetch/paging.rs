//! Selects the part of a long text that one answer returns.

/// A part of a text. Positions and lengths are in characters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'t> {
    pub(super) text: &'t str,
    /// The start of the next part. `None` if this part is the last.
    pub(super) next_offset: Option<usize>,
    pub(super) total_chars: usize,
}

/// Returns the part that begins at `offset`, at most `max_chars` characters and `max_bytes` bytes long. Ends after a
/// blank line, a line or a word if the part is then at least half full. Returns `None` if the offset is after the end.
pub(super) fn part(
    text: &str,
    offset: usize,
    max_chars: usize,
    max_bytes: usize,
) -> Option<Part<'_>> {
    let total_chars = text.chars().count();
    if offset > 0 && offset >= total_chars {
        return None;
    }
    let rest = text.get(at_character(text, offset)..)?;
    let end = at_character(rest, max_chars).min(rest.floor_char_boundary(max_bytes));
    let window = rest.get(..end)?;
    if end == rest.len() {
        return Some(Part {
            text: window,
            next_offset: None,
            total_chars,
        });
    }
    let text = window.get(..good_end(window))?;
    Some(Part {
        text,
        next_offset: Some(offset + text.chars().count()),
        total_chars,
    })
}

/// Returns the byte position of a character, at most the length of the text.
fn at_character(text: &str, number: usize) -> usize {
    let found = text.char_indices().nth(number);
    found.map_or(text.len(), |(at, _)| at)
}

fn good_end(window: &str) -> usize {
    let ends = ["\n\n", "\n", " "];
    let found = ends.iter().find_map(|mark| {
        let end = window.rfind(mark)? + mark.len();
        (end >= window.len() / 2).then_some(end)
    });
    found.unwrap_or(window.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, max_chars: usize, max_bytes: usize) -> Vec<&str> {
        let (mut parts, mut offset) = (Vec::new(), 0);
        loop {
            let part = part(text, offset, max_chars, max_bytes).unwrap();
            assert_eq!(part.total_chars, text.chars().count());
            parts.push(part.text);
            match part.next_offset {
                Some(next) => offset = next,
                None => return parts,
            }
        }
    }

    #[test]
    fn parts_end_where_a_reader_would_pause() {
        assert_eq!(all("one\n\ntwo\nthree", 12, 99), ["one\n\ntwo\n", "three"]);
        assert_eq!(all("first one\n\nlast", 12, 99), ["first one\n\n", "last"]);
        assert_eq!(all("a b c d e", 4, 99), ["a b ", "c d ", "e"]);
        // The first space is too early to end the part.
        assert_eq!(all("a bcdefghi", 6, 99), ["a bcde", "fghi"]);
    }

    #[test]
    fn nothing_is_lost_at_either_limit() {
        let text = "ä€👩 word\n".repeat(50);
        for (max_chars, max_bytes) in [(7, 999), (999, 11), (1, 4), (450, 4000)] {
            let parts = all(&text, max_chars, max_bytes);
            assert_eq!(parts.concat(), text);
            for part in parts {
                assert!(part.chars().count() <= max_chars && part.len() <= max_bytes);
            }
        }
    }

    #[test]
    fn an_offset_is_within_the_text() {
        assert_eq!(all("", 10, 10), [""]);
        assert!(part("", 1, 10, 10).is_none());
        assert!(part("äb", 2, 10, 10).is_none());
        assert_eq!(part("äb", 1, 10, 10).map(|part| part.text), Some("b"));
    }
}
