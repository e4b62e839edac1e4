//! Which models read images, for providers that do not report it. Sources:
//! <https://platform.openai.com/docs/models>, <https://platform.claude.com/docs/en/about-claude/models>,
//! <https://ai.google.dev/gemini-api/docs/models>.

/// By name prefix; longer prefixes come first.
const KNOWN: &[(&str, bool)] = &[
    ("claude-2", false),
    ("claude-instant", false),
    ("claude-", true),
    ("gemini-", true),
    ("gpt-3.5", false),
    ("gpt-4.1", true),
    ("gpt-4o-audio", false),
    ("gpt-4o", true),
    ("gpt-4-turbo", true),
    ("gpt-4", false),
    ("gpt-5", true),
    ("gpt-oss", false),
    ("o1-mini", false),
    ("o1-preview", false),
    ("o1", true),
    ("o3-mini", false),
    ("o3", true),
    ("o4-mini", true),
    ("pixtral", true),
];

/// Whether a model reads images, derived from its name.
pub(crate) fn known_vision(model: &str) -> Option<bool> {
    // `OpenRouter` and others prefix the name with the vendor.
    let name = model.rsplit('/').next().unwrap_or(model);
    let known = KNOWN.iter().find(|(start, _)| name.starts_with(start));
    known.map(|(_, sees)| *sees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_counts() {
        for (model, sees) in [
            ("gpt-4.1-mini", Some(true)),
            ("gpt-4-0613", Some(false)),
            ("o3-mini", Some(false)),
            ("o3", Some(true)),
            ("anthropic/claude-sonnet-4", Some(true)),
            ("llama3.2", None),
        ] {
            assert_eq!(known_vision(model), sees, "{model}");
        }
    }
}
