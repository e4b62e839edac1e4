//! Lines that introduce a quoted email.

use super::is_quoted;

/// Returns the index of the line that introduces the answered email, if only that email follows. `is_unmarked` is true
/// if quoted lines have no marks.
pub(super) fn introduction(lines: &[&str], is_unmarked: bool) -> Option<usize> {
    (0..lines.len()).find(|&at| {
        let one = lines.get(at).map_or("", |line| line.trim());
        let two = lines
            .get(at.saturating_add(1))
            .map_or("", |line| line.trim());
        let after = if is_introduction(one) {
            at.saturating_add(1)
        } else if is_introduction(&format!("{one} {two}")) && !two.is_empty() {
            at.saturating_add(2)
        } else {
            return false;
        };
        let rest = lines.get(after..).unwrap_or_default();
        is_unmarked
            || rest
                .iter()
                .all(|line| line.trim().is_empty() || is_quoted(line))
    })
}

/// Returns whether a line has the form `On Wed, Nov 18, 2026 at 11:06 Ann <a@example.com> wrote:`.
fn is_introduction(line: &str) -> bool {
    let english = line.starts_with("On ") && line.ends_with(" wrote:");
    let german = line.starts_with("Am ") && line.contains(" schrieb") && line.ends_with(':');
    let has_date = line.bytes().any(|byte| byte.is_ascii_digit());
    has_date && line.len() <= 400 && (english || german)
}
