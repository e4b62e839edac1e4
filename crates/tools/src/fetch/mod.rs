//! `web_fetch`: a public web page as Markdown or the text of a document, in parts if it is long, or a picture.

mod charset;
mod get;
mod kind;
mod paging;
mod picture;

use crate::files::{FileError, FileReader, OfficeError};
use crate::html::{Article, Reader};
use crate::input;
use crate::pdf::{PdfError, PdfReader};
use crate::secrets::{Redactor, Request, RequestSecrets, names_secrets};
use crate::text;
use bytes::Bytes;
use charset::decode;
use futures_util::future::BoxFuture;
use gatehouse_agents::{Audience, Effect, MAX_OUTPUT_BYTES, Tool, ToolContext, ToolError};
use gatehouse_outbound::Outbound;
use get::{FetchError, Page, get};
use kind::Kind;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// Limits on the text of an answer in characters: minimum, default, maximum. An ASCII text of the maximum and the lines
/// before it fit into [`MAX_OUTPUT_BYTES`]; other texts are also cut there.
const CHARACTERS: (usize, usize, usize) = (100, 20_000, 60_000);
/// The room for the offsets in an answer, in bytes.
const OFFSETS_BYTES: usize = 200;
/// The longest URL.
const MAX_URL_CHARACTERS: usize = 4000;
/// How long a fetch may take, including redirects.
const TIME: Duration = Duration::from_secs(20);

/// Limits on the headers that the model sets.
const MAX_HEADERS: usize = 20;
const MAX_HEADER_CHARACTERS: usize = 2000;

const SECRET_PICTURE: &str = "A picture from a server that may receive secrets is not read, because \
                              a secret in it cannot be removed.";

/// The `web_fetch` tool.
#[derive(Debug)]
pub(crate) struct WebFetch {
    outbound: Outbound,
    reader: Reader,
    pdf_reader: Arc<PdfReader>,
    file_reader: Arc<FileReader>,
    secrets: RequestSecrets,
}

/// Why the text of a page cannot be read. The model reads this.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Pdf(#[from] PdfError),
    #[error(transparent)]
    Office(#[from] OfficeError),
    #[error("Reading the document took too long. Try again later, or another document.")]
    TooSlow,
    #[error(transparent)]
    Fetch(#[from] FetchError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    max_chars: Option<u64>,
    offset: Option<u64>,
}

impl WebFetch {
    pub(crate) fn new(
        outbound: Outbound,
        pdf_reader: Arc<PdfReader>,
        file_reader: Arc<FileReader>,
        secrets: RequestSecrets,
    ) -> Self {
        Self {
            outbound,
            reader: Reader::new(),
            pdf_reader,
            file_reader,
            secrets,
        }
    }

    async fn fetch(&self, context: &ToolContext, input: Value) -> Result<String, ToolError> {
        let Input {
            url,
            headers,
            max_chars,
            offset,
        } = input::read(input)?;
        let max = input::within("max_chars", max_chars, CHARACTERS)?;
        let is_long = |value: &String| value.chars().nth(MAX_HEADER_CHARACTERS).is_some();
        if headers.len() > MAX_HEADERS || headers.values().any(is_long) {
            return Err(ToolError::new(format!(
                "headers must have at most {MAX_HEADERS} entries of at most \
                 {MAX_HEADER_CHARACTERS} characters."
            )));
        }
        let url = input::line("url", &url, MAX_URL_CHARACTERS)?;
        let url = Url::parse(url).map_err(|_| {
            ToolError::new("The URL cannot be parsed; it must begin with https:// or http://.")
        })?;
        let request = Request {
            url,
            headers: &headers,
        };
        let filled = self.secrets.fill(request, context.ceiling).await?;
        let redactor = filled.redactor;
        let failed =
            |error: &dyn std::error::Error| ToolError::new(redactor.redact(error.to_string()));
        let getting = get(
            &self.outbound,
            filled.url,
            &filled.headers,
            filled.has_secrets,
        );
        let page = timeout(TIME, getting).await.map_err(|_| {
            ToolError::new(format!(
                "There was no response within {} seconds.",
                TIME.as_secs()
            ))
        })?;
        let mut page = page.map_err(|error| failed(&error))?;
        if !filled.is_complete && self.secrets.may_know(&page.url) {
            let message =
                "This page may contain a secret that cannot be removed, because it cannot be read.";
            return Err(ToolError::new(message));
        }
        let url = redactor.redact(page.url.to_string());
        if page.kind == Kind::Image {
            if filled.has_secrets || self.secrets.may_know(&page.url) {
                return Err(ToolError::new(SECRET_PICTURE));
            }
            let mut picture = picture::read(&self.file_reader, &page.url, page.body).await?;
            picture.name = redactor.redact(picture.name);
            let answer = picture::describe(&url, &picture);
            context.files.push(picture);
            return Ok(answer);
        }
        let article = self.read(&mut page, &redactor).await;
        let mut article = article.map_err(|error| failed(&error))?;
        article.title = redactor.redact(article.title);
        article.text = redactor.redact(article.text);
        // A larger offset is past the end of every page.
        let offset = usize::try_from(offset.unwrap_or(0)).unwrap_or(usize::MAX);
        present(&url, page.truncated, &article, offset, max)
    }

    /// Extracts the text of a page. Takes its body.
    async fn read(&self, page: &mut Page, redactor: &Redactor) -> Result<Article, ReadError> {
        let body = std::mem::take(&mut page.body);
        match page.kind {
            Kind::Pdf => return Ok(self.pdf_reader.read(body).await?),
            Kind::Archive => return self.document(body).await,
            Kind::Html | Kind::Text | Kind::Data | Kind::Image => {}
        }
        // Redact the source as well as the result, because Markdown escapes characters.
        let decoded = decode(&body, page.charset.as_deref(), page.kind);
        let decoded = if page.truncated {
            redactor.redact_cut(decoded)
        } else {
            redactor.redact(decoded)
        };
        Ok(match page.kind {
            Kind::Html => self.reader.read(decoded, page.url.clone()).await,
            _ => Article {
                title: String::new(),
                text: text::readable(&decoded),
            },
        })
    }

    /// Extracts the text of an office document.
    async fn document(&self, body: Vec<u8>) -> Result<Article, ReadError> {
        let read = self.file_reader.document(Bytes::from(body)).await;
        let text = read.map_err(|error| match error {
            FileError::TooSlow => ReadError::TooSlow,
            _ => ReadError::Office(OfficeError::Unreadable),
        })?;
        Ok(Article {
            title: String::new(),
            text: text.ok_or(FetchError::NotText)??,
        })
    }
}

/// The answer: the source, then at most `max` characters of the text from `offset`.
fn present(
    url: &str,
    is_truncated: bool,
    article: &Article,
    offset: usize,
    max: usize,
) -> Result<String, ToolError> {
    let mut answer = format!("URL: {}\n", text::one_line(url, 2000));
    if !article.title.is_empty() {
        let _ = writeln!(answer, "Title: {}", article.title);
    }
    if is_truncated {
        answer.push_str("Note: the page is larger than 2 MiB; this is its beginning.\n");
    }
    let room = MAX_OUTPUT_BYTES.saturating_sub(answer.len() + OFFSETS_BYTES);
    let Some(part) = paging::part(&article.text, offset, max, room) else {
        return Err(ToolError::new(format!(
            "The offset {offset} is past the end: the text has {} characters.",
            article.text.chars().count()
        )));
    };
    let _ = writeln!(answer, "total_chars: {}", part.total_chars);
    if offset > 0 {
        let _ = writeln!(answer, "offset: {offset}");
    }
    if let Some(next) = part.next_offset {
        let _ = writeln!(answer, "next_offset: {next}");
    }
    answer.push('\n');
    if article.text.is_empty() {
        answer.push_str("(The page contains no text.)");
    }
    answer.push_str(part.text.trim_end());
    if let Some(next) = part.next_offset {
        let _ = write!(answer, "\n[cut; it continues at offset {next}]");
    }
    Ok(answer)
}

/// Whether a request names secrets.
fn uses_secrets(input: &Value) -> bool {
    let headers = input.get("headers").and_then(Value::as_object);
    let values = headers.into_iter().flat_map(serde_json::Map::values);
    // Inserts into the parsed URL, because parsing removes and encodes characters.
    let url = input.get("url").and_then(Value::as_str);
    let url = url.and_then(|url| Url::parse(url.trim()).ok());
    let parts = url.iter().flat_map(|url| [Some(url.path()), url.query()]);
    let mut texts = values.filter_map(Value::as_str).chain(parts.flatten());
    texts.any(names_secrets)
}

impl Tool for WebFetch {
    fn name(&self) -> &'static str {
        "web_fetch"
    }

    fn description(&self) -> &'static str {
        "Fetches a page of the public web by its URL and returns its readable text. HTML is \
         converted to Markdown; the text of PDF and office documents is extracted; plain text, \
         JSON and XML are returned unchanged. A JPEG, PNG or WebP image is shown to you if you can \
         see pictures. A long text is returned in parts: call again with the next_offset of the \
         answer as offset. It cannot reach private addresses and sends no cookies or credentials \
         of its own."
    }

    fn parameters(&self) -> Value {
        let (min, default, max) = CHARACTERS;
        let mut schema = json!({
            "type": "object",
            "properties": {
                "url": {
                    "type": "string",
                    "description": "The complete URL, beginning with https:// or http://.",
                    "minLength": 1,
                    "maxLength": MAX_URL_CHARACTERS,
                },
                "max_chars": {
                    "type": "integer",
                    "description": "The maximum number of characters of text to return.",
                    "minimum": min,
                    "maximum": max,
                    "default": default,
                },
                "offset": {
                    "type": "integer",
                    "description": "The character of the text to begin with.",
                    "minimum": 0,
                    "default": 0,
                },
            },
            "required": ["url"],
            "additionalProperties": false,
        });
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        if let (Some(properties), Some(secrets)) = (properties, self.secrets.listed()) {
            let headers = json!({
                "type": "object",
                "description": format!(
                    "Additional request headers. In their values, and in the path and query of the \
                     URL, these stand for secrets that you cannot see: {secrets}."
                ),
                "maxProperties": MAX_HEADERS,
                "additionalProperties": { "type": "string", "maxLength": MAX_HEADER_CHARACTERS },
            });
            properties.insert("headers".to_owned(), headers);
        }
        schema
    }

    fn audience(&self) -> Audience {
        Audience::Public
    }

    fn returns_private(&self, input: &Value) -> bool {
        uses_secrets(input)
    }

    /// A request with a secret has the rights of its owner, so it may change something.
    fn effect(&self, input: &Value, has_private: bool) -> Effect {
        if uses_secrets(input) {
            Effect::Change
        } else if has_private {
            Effect::Reveal
        } else {
            Effect::None
        }
    }

    /// The host and its port, if the URL has one.
    fn target(&self, input: &Value) -> Option<String> {
        let url = Url::parse(input.get("url")?.as_str()?.trim()).ok()?;
        let host = url.host_str()?;
        Some(match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        })
    }

    fn call<'a>(
        &'a self,
        context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(self.fetch(context, input))
    }
}
