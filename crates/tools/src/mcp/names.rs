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
}
