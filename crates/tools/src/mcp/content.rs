//! Converts a server's results to text and files.

use crate::files::FileReader;
use crate::text::{one_line, readable};
use bytes::Bytes;
use data_encoding::BASE64;
use gatehouse_agents::{MAX_OUTPUT_BYTES, NewAttachment, ReturnedFiles, ToolError};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// Ends an answer that was cut.
const CUT_MARK: &str = "\n[cut]";
/// The maximum number of images and other files of an answer that are read.
const MAX_FILES: usize = 4;

/// The conversion of one answer. Images become files and are mentioned in the text. Documents become text. Audio is
/// only mentioned.
pub(super) struct Content<'a> {
    reader: &'a FileReader,
    /// The name of the tool, after which images are named.
    tool: &'a str,
    /// How many files were read.
    read: usize,
    images: Vec<NewAttachment>,
}

impl<'a> Content<'a> {
    pub(super) fn new(reader: &'a FileReader, tool: &'a str) -> Self {
        Self {
            reader,
            tool,
            read: 0,
            images: Vec::new(),
        }
    }

    /// Creates a conversion that only mentions files.
    pub(super) fn without_files(reader: &'a FileReader, tool: &'a str) -> Self {
        Self {
            read: MAX_FILES,
            ..Self::new(reader, tool)
        }
    }

    /// Keeps the images for models that read images.
    pub(super) fn keep(self, files: &ReturnedFiles) {
        for image in self.images {
            files.push(image);
        }
    }

    /// Returns the text of an answer. An answer that is marked as an error becomes an error without
    /// images.
    pub(super) async fn answer(&mut self, result: &CallToolResult) -> Result<String, ToolError> {
        let is_error = result.is_error == Some(true);
        if is_error {
            self.read = MAX_FILES;
        }
        let mut parts = Vec::with_capacity(result.content.len());
        for block in &result.content {
            parts.push(self.block(block).await);
        }
        if let (true, Some(value)) = (parts.is_empty(), &result.structured_content) {
            parts.push(value.to_string());
        }
        let text = within_limit(&parts);
        if !is_error {
            return Ok(text);
        }
        Err(ToolError::new(if text.is_empty() {
            "The tool failed without an error message.".to_owned()
        } else {
            text
        }))
    }

    /// Returns the text of a resource, which may have several contents.
    pub(super) async fn resources(&mut self, contents: &[ResourceContents]) -> String {
        let mut parts = Vec::with_capacity(contents.len());
        for content in contents {
            let text = self.resource(content).await;
            parts.push(if contents.len() > 1 {
                format!("[{}]\n{text}", one_line(uri_of(content), 500))
            } else {
                text
            });
        }
        within_limit(&parts)
    }

    pub(super) async fn block(&mut self, block: &ContentBlock) -> String {
        match block {
            ContentBlock::Text(text) => text.text.clone(),
            ContentBlock::Image(image) => {
                let name = format!("{}-{}", self.tool, self.read + 1);
                if let Some(file) = self.file(name, &image.data).await {
                    self.images.extend(file.picture.is_some().then_some(file));
                }
                media("image", &image.mime_type, &image.data)
            }
            ContentBlock::Audio(audio) => media("audio", &audio.mime_type, &audio.data),
            ContentBlock::Resource(embedded) => self.resource(&embedded.resource).await,
            ContentBlock::ResourceLink(link) => format!("[resource {}]", one_line(&link.uri, 500)),
            _ => "[content of an unknown kind]".to_owned(),
        }
    }

    async fn resource(&mut self, contents: &ResourceContents) -> String {
        match contents {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let stated = mime_type.as_deref().unwrap_or("application/octet-stream");
                match self.file(uri.clone(), blob).await {
                    Some(file) if file.picture.is_some() => {
                        self.images.push(file);
                        media("image", stated, blob)
                    }
                    Some(NewAttachment {
                        text: Some(text), ..
                    }) => text,
                    _ => media("file", stated, blob),
                }
            }
            _ => "[a resource of an unknown kind]".to_owned(),
        }
    }

    /// Reads a file. Returns `None` if the maximum number is reached or the file cannot be read.
    async fn file(&mut self, name: String, base64: &str) -> Option<NewAttachment> {
        if self.read >= MAX_FILES {
            return None;
        }
        self.read += 1;
        let data = BASE64.decode(base64.as_bytes()).ok()?;
        let read = self.reader.read(name, Bytes::from(data)).await;
        read.inspect_err(|error| {
            tracing::debug!(tool = self.tool, %error, "a file of an MCP server cannot be read");
        })
        .ok()
    }
}

fn uri_of(contents: &ResourceContents) -> &str {
    match contents {
        ResourceContents::TextResourceContents { uri, .. }
        | ResourceContents::BlobResourceContents { uri, .. } => uri,
        _ => "",
    }
}

/// Joins the parts to a clean text of at most [`MAX_OUTPUT_BYTES`].
pub(super) fn within_limit(parts: &[String]) -> String {
    let mut text = readable(&parts.join("\n"));
    if text.len() > MAX_OUTPUT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_OUTPUT_BYTES - CUT_MARK.len()));
        text.push_str(CUT_MARK);
    }
    text
}

/// Base64 uses four characters for three bytes.
fn media(kind: &str, mime_type: &str, base64: &str) -> String {
    format!(
        "[{kind} {}, {} bytes]",
        one_line(mime_type, 100),
        base64.len() / 4 * 3
    )
}
