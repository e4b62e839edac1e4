//! The names of MCP tools as agents see them.
//!
//! Approvals and policies use these names, so they must be unique across all servers. Providers accept 64 letters,
//! digits, `_` and `-`. Servers and tools may have other names. If a name is changed to fit, or could be the name of
//! another server, a hash of the original is appended.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The longest name that model providers accept.
const MAX_NAME: usize = 64;
/// The longest server part.
const MAX_SERVER: usize = 32;
/// The number of hex digits in a server's hash. The operator chooses the server's name, so
/// collisions are not an attack.
const SERVER_DIGITS: usize = 8;
/// The number of hex digits in a tool's hash. The server chooses the tool's name, and must not be able to find a
/// collision with another tool.
const TOOL_DIGITS: usize = 16;

/// Returns `mcp__<server>__<tool>`.
///
/// The first `__` after `mcp__` ends the server part, which contains no `__` and does not end in `_`. So
/// `mcp__x__*` matches only the tools of `x`.
pub(super) fn full_name(server: &str, tool: &str) -> String {
    let is_plain = |part: &str| !part.contains("__") && !part.ends_with('_');
    let server = if is_plain(server) && fits(server, MAX_SERVER, SERVER_DIGITS) {
        server.to_owned()
    } else {
        numbered(server, MAX_SERVER, SERVER_DIGITS)
    };
    let left = MAX_NAME - "mcp____".len() - server.len();
    let tool = if fits(tool, left, TOOL_DIGITS) {
        tool.to_owned()
    } else {
        numbered(tool, left, TOOL_DIGITS)
    };
    format!("mcp__{server}__{tool}")
}

/// Returns the name that earlier versions used. Several tools may share it. Only rules that restrict a tool still match
/// this name.
pub(super) fn former_name(server: &str, tool: &str) -> String {
    let mut name = format!("mcp__{}__{}", replaced(server), replaced(tool));
    if name.len() > MAX_NAME {
        let number = format!("_{:08x}", fnv(&format!("{server}\0{tool}")));
        name.truncate(MAX_NAME - number.len());
        name.push_str(&number);
    }
    name
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn replaced(text: &str) -> String {
    let letter = |c| if is_allowed(c) { c } else { '_' };
    text.chars().map(letter).collect()
}

/// Returns whether a part can stay unchanged. A part that already ends like a hash gets a hash
/// appended.
fn fits(part: &str, max: usize, digits: usize) -> bool {
    let is_number = |end: &str| {
        end.len() == digits
            && end
                .bytes()
                .all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
    };
    (1..=max).contains(&part.len())
        && part.chars().all(is_allowed)
        && !part.rsplit_once('-').is_some_and(|(_, end)| is_number(end))
}

/// Returns the beginning of the part, followed by the hash of the whole part.
fn numbered(part: &str, max: usize, digits: usize) -> String {
    let mut text = replaced(part);
    while let Some(at) = text.find("__") {
        text.remove(at);
    }
    text.truncate(max - digits - 1);
    text.push('-');
    for byte in Sha256::digest(part).iter().take(digits / 2) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// FNV-1a, 32 bits, as earlier versions used it.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_the_providers_and_stay_as_they_are_where_they_can() {
        assert_eq!(full_name("files", "read_file"), "mcp__files__read_file");
        assert_eq!(full_name("my-files", "a__b_"), "mcp__my-files__a__b_");
        // SHA-256 of "my.files" and of "read file/ä".
        let number = |text: &str, digits| numbered(text, 64, digits);
        assert_eq!(number("my.files", 8), "my_files-06d017ae");
        assert_eq!(
            full_name("my.files", "read file/ä"),
            format!("mcp__my_files-06d017ae__{}", number("read file/ä", 16))
        );
        let longest = "x".repeat(64 - "mcp__files__".len());
        assert_eq!(
            full_name("files", &longest),
            format!("mcp__files__{longest}")
        );
        assert_eq!(full_name("files", &format!("{longest}y")).len(), 64);
        let server = "s".repeat(32);
        assert!(full_name(&server, "t").starts_with(&format!("mcp__{server}__t")));
        assert!(!full_name(&format!("{server}s"), "t").contains(&server));
    }

    #[test]
    fn the_names_of_earlier_versions_are_still_known() {
        assert_eq!(former_name("files", "read_file"), "mcp__files__read_file");
        assert_eq!(
            former_name("my.files", "read file/ä"),
            "mcp__my_files__read_file__"
        );
        // <http://www.isthe.com/chongo/src/fnv/test_fnv.c>
        assert_eq!(fnv("foobar"), 0xbf9c_f968);
    }

    #[test]
    fn two_tools_never_share_a_name() {
        let near = [
            "a",
            "a.b",
            "a_b",
            "a b",
            "a-b",
            "a__b",
            "a_",
            "_a",
            "b",
            "b__c",
            "_b",
            "c",
            "",
            "ä",
            "ö",
            "a_b-00000000",
            "a.b-0000000000000000",
            "A",
        ];
        let longest = "x".repeat(64);
        let longer = [
            longest.clone(),
            format!("{longest}y"),
            format!("{longest}z"),
        ];
        let all: Vec<&str> = near
            .into_iter()
            .chain(longer.iter().map(String::as_str))
            .collect();
        let mut names = std::collections::BTreeMap::new();
        for server in all.iter().filter(|server| !server.is_empty()) {
            for tool in &all {
                let name = full_name(server, tool);
                assert!((1..=64).contains(&name.len()), "{name}");
                let before = names.insert(name.clone(), (*server, *tool));
                assert_eq!(before, None, "{name} is also {server}/{tool}");
            }
        }
    }

    #[test]
    fn a_pattern_for_one_server_covers_no_other() {
        for (server, other) in [("a", "a__b"), ("a", "a_"), ("a", "a.b"), ("a_b", "a.b")] {
            let whole = format!("mcp__{server}__");
            let name = full_name(other, "tool");
            assert!(!name.starts_with(&whole), "{name}");
        }
    }
}
