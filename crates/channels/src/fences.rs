//! Finds the fenced code blocks of a Markdown text (<https://spec.commonmark.org/0.31.2/#fenced-code-blocks>).

/// Maximum indentation of a fence, in spaces.
const MAX_INDENT: usize = 3;
const MIN_FENCE: usize = 3;

/// A fenced code block. The positions are bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block<'t> {
    /// The beginning of the opening line.
    pub(crate) start: usize,
    /// The end of the opening line.
    pub(crate) body: usize,
    /// The beginning of the closing line; the end of the text if there is none.
    pub(crate) closing: usize,
    /// The end of the closing line.
    pub(crate) end: usize,
    /// The opening line without its line break.
    pub(crate) opening: &'t str,
    /// The characters that close the block.
    pub(crate) fence: &'t str,
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
                if let Some(fence) = opens(content) {
                    is_open = true;
                    found.push(Block {
                        start: at,
                        body: end,
                        closing: text.len(),
                        end: text.len(),
                        opening: content,
                        fence,
                    });
                }
            }
        }
        at = end;
    }
    found
}

/// The fence at the beginning of a line, and what follows it.
fn fence_of(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let fence = text.strip_suffix(rest)?;
    (line.len() - text.len() <= MAX_INDENT && fence.len() >= MIN_FENCE).then_some((fence, rest))
}

fn opens(line: &str) -> Option<&str> {
    let (fence, info) = fence_of(line)?;
    (fence.starts_with('~') || !info.contains('`')).then_some(fence)
}

fn closes(line: &str, opening: &str) -> bool {
    fence_of(line).is_some_and(|(fence, rest)| fence.starts_with(opening) && rest.trim().is_empty())
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
            ("    ```\n`` `\n``` a`b\n", vec![]),
            ("text ```\n", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text:?}");
        }
        let block = &blocks("a\n  ```rust x\nb\n```\n")[0];
        assert_eq!((block.body, block.closing), (14, 16));
        assert_eq!((block.opening, block.fence), ("  ```rust x", "```"));
    }
}
