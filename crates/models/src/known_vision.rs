//! The models that read images, for providers whose model list does not report it. The list contains only models whose
//! vendors document it. Any other model counts as unknown, and gets no images.

/// Models by name. Their snapshots, whose names end with a date, also read images.
const MODELS: &[&str] = &[
    // <https://developers.openai.com/api/docs/models>: "all latest OpenAI models support text and image input".
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-5.6-luna",
    // <https://platform.openai.com/docs/guides/images-vision>: the models with a price per image.
    "gpt-5.2",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5-nano",
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-4.1-nano",
    "gpt-4o",
    "gpt-4o-mini",
    "o1",
    "o1-pro",
    "o3",
    "o4-mini",
    // <https://ai.google.dev/gemini-api/docs/models>: "inputs" with images.
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "gemini-2.5-flash-lite",
    "gemini-2.0-flash",
    "gemini-2.0-flash-lite",
];

/// Name prefixes of models that read images. <https://platform.claude.com/docs/en/build-with-claude/vision>: "the
/// Claude 3 and 4 families". Anthropic's own list reports it too.
const FAMILIES: &[&str] = &[
    "claude-3",
    "claude-haiku-4",
    "claude-opus-4",
    "claude-sonnet-4",
];

/// Returns whether a model reads images, derived from its name. Never returns `Some(false)`.
pub(crate) fn known_vision(model: &str) -> Option<bool> {
    // `OpenRouter` and others prefix the name with the vendor.
    let name = model.rsplit('/').next().unwrap_or(model);
    let after = |known: &str| name.strip_prefix(known);
    let is_model = MODELS.iter().filter_map(|known| after(known)).any(is_date);
    let is_family = FAMILIES
        .iter()
        .filter_map(|known| after(known))
        .any(|rest| rest.is_empty() || rest.starts_with(['-', '.', '@']));
    (is_model || is_family).then_some(true)
}

/// Returns whether the rest is empty, or a date such as `-2024-08-06` or `-001`.
fn is_date(rest: &str) -> bool {
    rest.is_empty()
        || rest.strip_prefix('-').is_some_and(|date| {
            !date.is_empty() && date.bytes().all(|b| b.is_ascii_digit() || b == b'-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_models_and_their_snapshots_read_images() {
        for model in [
            "gpt-4.1-mini",
            "gpt-4o-2024-08-06",
            "openai/o3",
            "gemini-2.0-flash-001",
            "anthropic/claude-sonnet-4.5",
            "claude-3-5-haiku-20241022",
        ] {
            assert_eq!(known_vision(model), Some(true), "{model}");
        }
    }

    #[test]
    fn other_models_are_unknown_also_relatives_of_known_ones() {
        for model in [
            "gpt-4",
            "gpt-4o-audio-preview",
            "gpt-4o-",
            "gpt-5.3-codex-spark",
            "gpt-oss-120b",
            "o3-mini",
            "gemini-2.5-flash-preview-tts",
            "gemini-embedding-001",
            "claude-2.1",
            "claude-30",
            "llama3.2",
            "",
        ] {
            assert_eq!(known_vision(model), None, "{model}");
        }
    }
}
