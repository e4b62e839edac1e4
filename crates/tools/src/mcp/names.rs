//! The names under which agents know a server's tools.

/// The longest name that model providers take.
const MAX_NAME: usize = 64;

/// `mcp__<server>__<tool>`, of the characters that model providers take. A name that is too long is cut
/// and told from others by a number made of the whole.
pub(super) fn full_name(server: &str, tool: &str) -> String {
    let plain = |text: &str| -> String {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        text.chars()
            .map(|c| if allowed(c) { c } else { '_' })
            .collect()
    };
    let mut name = format!("mcp__{}__{}", plain(server), plain(tool));
    if name.len() > MAX_NAME {
        let number = format!("_{:08x}", fnv(&format!("{server}\0{tool}")));
        name.truncate(MAX_NAME - number.len());
        name.push_str(&number);
    }
    name
}

/// FNV-1a, 32 bits: the same in every build, unlike the standard library's.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_the_providers() {
        assert_eq!(full_name("files", "read_file"), "mcp__files__read_file");
        assert_eq!(
            full_name("my.files", "read file/ä"),
            "mcp__my_files__read_file__"
        );
        let longest = "x".repeat(64 - "mcp__files__".len());
        assert_eq!(
            full_name("files", &longest),
            format!("mcp__files__{longest}")
        );
        let (one, two) = (format!("{longest}y"), format!("{longest}z"));
        assert_eq!(full_name("files", &one).len(), 64);
        assert_ne!(full_name("files", &one), full_name("files", &two));
        // http://www.isthe.com/chongo/src/fnv/test_fnv.c
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
