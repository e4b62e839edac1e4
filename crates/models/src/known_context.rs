//! Context windows of models whose providers do not report them. Sources:
//! <https://platform.openai.com/docs/models>, <https://platform.claude.com/docs/en/about-claude/models>.

/// Context windows by name prefix. Longer prefixes come first.
const KNOWN: &[(&str, u64)] = &[
    ("claude-", 200_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("gpt-5", 400_000),
    ("gpt-3.5-turbo", 16_385),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
];

/// Returns the context window in tokens (input and output), derived from the model's name.
pub(crate) fn known_context(model: &str) -> Option<u64> {
    // `OpenRouter` and others prefix the name with the vendor.
    let name = model.rsplit('/').next().unwrap_or(model);
    let known = KNOWN.iter().find(|(start, _)| name.starts_with(start));
    known.map(|(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_counts() {
        for (model, context) in [
            ("gpt-4.1-mini", Some(1_047_576)),
            ("gpt-4o-mini", Some(128_000)),
            ("gpt-4-0613", Some(8_192)),
            ("anthropic/claude-sonnet-4", Some(200_000)),
            ("llama3.2", None),
        ] {
            assert_eq!(known_context(model), context, "{model}");
        }
    }
}
