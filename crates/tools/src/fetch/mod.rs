//! `web_fetch`: a public web page as Markdown or the text of a PDF, in parts if it is long.

mod charset;
mod get;
mod kind;
mod paging;

use crate::html::{Article, Reader};
use crate::input;
use crate::pdf::{PdfError, PdfReader};
use crate::text;
use charset::decode;
use futures_util::future::BoxFuture;
use gatehouse_agents::{Audience, Effect, MAX_OUTPUT_BYTES, Tool, ToolContext, ToolError};
use gatehouse_outbound::Outbound;
use get::{Page, get};
use kind::Kind;
use serde::Deserialize;
use serde_json::{Value, json};
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

/// The `web_fetch` tool.
#[derive(Debug)]
pub(crate) struct WebFetch {
    outbound: Outbound,
    reader: Reader,
    pdf_reader: Arc<PdfReader>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    url: String,
    max_chars: Option<u64>,
    offset: Option<u64>,
}

impl WebFetch {
    pub(crate) fn new(outbound: Outbound, pdf_reader: Arc<PdfReader>) -> Self {
        Self {
            outbound,
            reader: Reader::new(),
            pdf_reader,
        }
    }

    async fn fetch(&self, input: Value) -> Result<String, ToolError> {
        let Input {
            url,
            max_chars,
            offset,
        } = input::read(input)?;
        let max = input::within("max_chars", max_chars, CHARACTERS)?;
        let url = input::line("url", &url, MAX_URL_CHARACTERS)?;
        let url = Url::parse(url).map_err(|_| {
            ToolError::new("The URL cannot be parsed; it must begin with https:// or http://.")
        })?;
        let page = timeout(TIME, get(&self.outbound, url)).await.map_err(|_| {
            ToolError::new(format!(
                "There was no response within {} seconds.",
                TIME.as_secs()
            ))
        })?;
        let mut page = page.map_err(|error| ToolError::new(error.to_string()))?;
        let article = self.read(&mut page).await;
        let article = article.map_err(|error| ToolError::new(error.to_string()))?;
        // A larger offset is past the end of every page.
        let offset = usize::try_from(offset.unwrap_or(0)).unwrap_or(usize::MAX);
        present(&page, &article, offset, max)
    }

    /// The text of a page, whose body is taken.
    async fn read(&self, page: &mut Page) -> Result<Article, PdfError> {
        let body = std::mem::take(&mut page.body);
        if page.kind == Kind::Pdf {
            return self.pdf_reader.read(body).await;
        }
        let decoded = decode(&body, page.charset.as_deref(), page.kind);
        Ok(match page.kind {
            Kind::Html => self.reader.read(decoded, page.url.clone()).await,
            Kind::Text | Kind::Data | Kind::Pdf => Article {
                title: String::new(),
                text: text::readable(&decoded),
            },
        })
    }
}

/// The answer: the source, then at most `max` characters of the text from `offset`.
fn present(page: &Page, article: &Article, offset: usize, max: usize) -> Result<String, ToolError> {
    let mut answer = format!("URL: {}\n", text::one_line(page.url.as_str(), 2000));
    if !article.title.is_empty() {
        let _ = writeln!(answer, "Title: {}", article.title);
    }
    if page.truncated {
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

impl Tool for WebFetch {
    fn name(&self) -> &'static str {
        "web_fetch"
    }

    fn description(&self) -> &'static str {
        "Fetches a page of the public web by its URL and returns its readable text. HTML is \
         converted to Markdown; the text of a PDF is extracted; plain text, JSON and XML are \
         returned unchanged. A long text is returned in parts: call again with the next_offset of \
         the answer as offset. It cannot reach private addresses and sends no cookies or \
         credentials."
    }

    fn parameters(&self) -> Value {
        let (min, default, max) = CHARACTERS;
        json!({
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
        })
    }

    fn audience(&self) -> Audience {
        Audience::Public
    }

    fn returns_private(&self) -> bool {
        false
    }

    fn effect(&self, _input: &Value, has_private: bool) -> Effect {
        if has_private {
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
        _: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(self.fetch(input))
    }
}
