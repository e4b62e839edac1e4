//! Converts a server's answer to text.

use crate::text::{one_line, readable};
use bytes::Bytes;
use data_encoding::BASE64;
use gatehouse_agents::{MAX_OUTPUT_BYTES, ToolError};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// Ends an answer that was cut.
const CUT_MARK: &str = "\n[cut]";

/// The text of an answer; images and audio are only mentioned in it. An answer marked as an error becomes one.
pub(super) fn text_of(result: &CallToolResult) -> Result<String, ToolError> {
    let mut parts: Vec<String> = result.content.iter().map(block).collect();
    if let (true, Some(value)) = (parts.is_empty(), &result.structured_content) {
        parts.push(value.to_string());
    }
    let mut text = readable(&parts.join("\n"));
    if text.len() > MAX_OUTPUT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_OUTPUT_BYTES - CUT_MARK.len()));
        text.push_str(CUT_MARK);
    }
    if result.is_error == Some(true) {
        Err(ToolError::new(if text.is_empty() {
            "The tool failed without an error message.".to_owned()
        } else {
            text
        }))
    } else {
        Ok(text)
    }
}

/// The images of an answer. Invalid base64 is left out.
pub(super) fn images_of(result: &CallToolResult) -> impl Iterator<Item = Bytes> + '_ {
    result.content.iter().filter_map(|block| match block {
        ContentBlock::Image(image) => BASE64.decode(image.data.as_bytes()).ok().map(Bytes::from),
        _ => None,
    })
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => media("image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => media("audio", &audio.mime_type, audio.data.len()),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            _ => "[a resource that is not text]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[resource {}]", one_line(&link.uri, 500)),
        _ => "[content of an unknown kind]".to_owned(),
    }
}

/// Base64 uses four characters for three bytes.
fn media(kind: &str, mime_type: &str, base64_len: usize) -> String {
    format!(
        "[{kind} {}, {} bytes]",
        one_line(mime_type, 100),
        base64_len / 4 * 3
    )
}
