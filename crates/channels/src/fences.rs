//! Finds the fenced code blocks of a Markdown text (<https://spec.commonmark.org/0.31.2/#fenced-code-blocks>),
//! including those in lists and quotes. A Markdown parser cannot replace this module: it does not report the
//! indentation and quote marks that are needed to open a block again. It also treats a fence that is indented too far
//! as text, while this module treats it as a fence.

const MIN_FENCE: usize = 3;
/// The longest info string that is repeated when a block is reopened.
const MAX_INFO_BYTES: usize = 60;

/// A fenced code block. The positions are bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block<'t> {
    /// The beginning of the opening line.
    pub(crate) start: usize,
    /// The end of the opening line.
    pub(crate) body: usize,
    /// The beginning of the closing line, or the end of the text if there is none.
    pub(crate) closing: usize,
    /// The end of the closing line.
    pub(crate) end: usize,
    /// A line that reopens the block. It is indented like the original but does not begin a list
    /// item.
    pub(crate) opening: String,
    /// A line that closes the block.
    pub(crate) close: String,
    fence: &'t str,
}

/// Returns the blocks of a text in order.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut is_open = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let content = line.trim_end_matches(['\n', '\r']);
        match found.last_mut().filter(|_| is_open) {
            Some(block) if closes(content, block.fence) => {
                (block.closing, block.end) = (at, end);
                is_open = false;
            }
            Some(_) => {}
            None => {
                if let Some((indentation, fence, info)) = opens(content) {
                    is_open = true;
                    found.push(Block {
                        start: at,
                        body: end,
                        closing: text.len(),
                        end: text.len(),
                        opening: format!("{indentation}{fence}{info}"),
                        close: format!("{indentation}{fence}"),
                        fence,
                    });
                }
            }
        }
        at = end;
    }
    found
}

/// Returns the fence at the beginning of a text, and the text after it.
fn fence_of(text: &str) -> Option<(&str, &str)> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let fence = text.strip_suffix(rest)?;
    (fence.len() >= MIN_FENCE).then_some((fence, rest))
}

/// Returns the indentation, the fence and the info string of a line that opens a block. Quote marks are part of the
/// indentation. Markers of list items are replaced by spaces.
fn opens(line: &str) -> Option<(String, &str, &str)> {
    let mut indentation = String::new();
    let mut rest = line;
    loop {
        let text = rest.trim_start_matches(is_indentation);
        indentation.push_str(rest.strip_suffix(text)?);
        let Some(after) = after_list_marker(text) else {
            rest = text;
            break;
        };
        indentation.extend(std::iter::repeat_n(' ', text.len() - after.len()));
        rest = after;
    }
    let (fence, info) = fence_of(rest)?;
    let is_fence = fence.starts_with('~') || !info.contains('`');
    is_fence.then(|| (indentation, fence, short(info)))
}

/// Returns the info string if it is short, otherwise the language at its beginning.
fn short(info: &str) -> &str {
    let language = info.split_whitespace().next().unwrap_or_default();
    [info, language]
        .into_iter()
        .find(|info| info.len() <= MAX_INFO_BYTES)
        .unwrap_or_default()
}

const fn is_indentation(c: char) -> bool {
    matches!(c, ' ' | '\t' | '>')
}

/// Returns the text after the marker of a list item and a space.
fn after_list_marker(text: &str) -> Option<&str> {
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let marker = if number.len() < text.len() {
        number.strip_prefix(['.', ')'])
    } else {
        text.strip_prefix(['-', '*', '+'])
    };
    marker?.strip_prefix(' ')
}

fn closes(line: &str, opening: &str) -> bool {
    let text = line.trim_start_matches(is_indentation);
    fence_of(text).is_some_and(|(fence, rest)| fence.starts_with(opening) && rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_begin_and_end_as_in_commonmark() {
        let found = |text| -> Vec<(usize, usize)> {
            blocks(text).iter().map(|it| (it.start, it.end)).collect()
        };
        for (text, expected) in [
            ("a\n```rust\nb\n```\nc", vec![(2, 16)]),
            ("```\na", vec![(0, 5)]),
            ("   ~~~~\n~~~\n~~~~\n", vec![(0, 17)]),
            ("```\na\n````  \r\nb", vec![(0, 14)]),
            ("```\n~~~\n```\n~~~\n~~~", vec![(0, 12), (12, 19)]),
            ("`` `\n``` a`b\n", vec![]),
            ("- a\n      ```\n      b\n      ```\n", vec![(4, 32)]),
            ("1. ```\n   b\n   ```\n", vec![(0, 19)]),
            ("> ```\n> b\n> ```\n", vec![(0, 16)]),
            ("1.```\n-```\n", vec![]),
            ("text ```\n", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text:?}");
        }
        let block = &blocks("a\n  ```rust x\nb\n```\n")[0];
        assert_eq!((block.body, block.closing), (14, 16));
        assert_eq!((&*block.opening, &*block.close), ("  ```rust x", "  ```"));
        let long = format!("```rust {}\n", "x".repeat(60));
        assert_eq!(blocks(&long)[0].opening, "```rust");
        let block = &blocks("> 10. - ~~~sh\n")[0];
        assert_eq!(
            (&*block.opening, &*block.close),
            (">       ~~~sh", ">       ~~~")
        );
    }
}
