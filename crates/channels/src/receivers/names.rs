//! Names of people and files in received messages.

use gatehouse_domain::visible;

const MAX_NAME_CHARS: usize = 64;

/// Maximum number of unread files that the text names.
pub(super) const MAX_NAMED: usize = 10;

const MAX_FILE_NAME_CHARS: usize = 100;

/// Returns a person's name as it is shown to the owner: one line of at most 64 characters before hidden characters are
/// escaped. An empty name is replaced by `id`.
pub(crate) fn display_name(name: &str, id: &str) -> String {
    let cut: String = name.trim().chars().take(MAX_NAME_CHARS).collect();
    let cut = match cut.trim() {
        "" => id,
        name => name,
    };
    visible::line(cut).text.into_owned()
}

/// Returns a file's name as it is shown: one line of at most 100 characters before hidden characters are escaped.
pub(crate) fn file_name(name: &str) -> String {
    let cut: String = name.trim().chars().take(MAX_FILE_NAME_CHARS).collect();
    match visible::line(&cut).text.trim() {
        "" => "file".to_owned(),
        name => name.to_owned(),
    }
}

/// Adds the names of files that are not read to the text of their message.
pub(crate) fn with_unread(text: String, names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.take(MAX_NAMED).collect();
    if names.is_empty() {
        return text;
    }
    format!("{text}\n\n(Not read: {})", names.join(", "))
        .trim()
        .to_owned()
}
