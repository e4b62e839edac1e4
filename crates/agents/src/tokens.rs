//! Estimates of tokens, and texts cut to a length.

use gatehouse_models::{ChatMessage, Picture, ToolSpec};

/// Tokens that a picture counts in the context window and in budgets. This is Anthropic's count for the largest picture
/// that is sent (<https://platform.claude.com/docs/en/build-with-claude/vision>). Other vendors count less.
pub(crate) const PICTURE_TOKENS: u64 = 1_600;

/// Cuts a text to this many characters and notes that it was cut.
pub(crate) fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some((end, _)) => {
            let beginning = text.get(..end).unwrap_or_default();
            format!("{beginning}\n[… shortened: {} bytes in all]", text.len())
        }
    }
}

/// Estimated number of tokens: one per four ASCII characters, one per other character.
pub(crate) fn tokens_of(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    u64::try_from(ascii / 4 + others + 4).unwrap_or(u64::MAX)
}

/// Returns the estimated tokens of a request beside its messages.
pub(crate) fn tokens_beside(system: Option<&str>, tools: &[ToolSpec]) -> u64 {
    system.map_or(0, tokens_of) + tools.iter().map(tokens_of_tool).sum::<u64>()
}

/// Returns the estimated tokens of a tool that a request offers.
pub(crate) fn tokens_of_tool(tool: &ToolSpec) -> u64 {
    tokens_of(&tool.description) + tokens_of(&tool.parameters.to_string())
}

pub(crate) fn tokens_in(message: &ChatMessage) -> u64 {
    match message {
        ChatMessage::User { text, pictures } => tokens_of(text) + tokens_of_pictures(pictures),
        ChatMessage::Assistant {
            text,
            tool_calls,
            state,
        } => {
            let calls = tool_calls
                .iter()
                .map(|call| tokens_of(&call.name) + tokens_of(&call.arguments));
            let state = state.as_ref().map_or(0, |s| tokens_of(&s.to_string()));
            tokens_of(text) + calls.sum::<u64>() + state
        }
        ChatMessage::Tool { name, text, .. } => tokens_of(name) + tokens_of(text),
    }
}

pub(crate) fn tokens_of_pictures(pictures: &[Picture]) -> u64 {
    PICTURE_TOKENS.saturating_mul(pictures.len() as u64)
}
