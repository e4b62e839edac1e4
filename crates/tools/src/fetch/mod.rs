//! `web_fetch`: returns a public web page as Markdown, the text of a document, or a picture. A long text is returned in
//! parts.

mod charset;
mod get;
mod kind;
mod paging;
mod picture;
mod present;
mod tool;

use crate::files::{FileError, FileReader, OfficeError};
use crate::html::{Article, Reader};
use crate::input;
use crate::pdf::{PdfError, PdfReader};
use crate::secrets::{Redactor, Request, RequestSecrets};
use crate::text;
use bytes::Bytes;
use charset::decode;
use gatehouse_agents::{ToolContext, ToolError};
use gatehouse_outbound::Outbound;
use get::{FetchError, Page, get};
use kind::Kind;
use present::present;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// Limits on the text of an answer in characters: minimum, default, maximum. The maximum of ASCII text, with the lines
/// before it, fits into [`MAX_OUTPUT_BYTES`]. Other texts are cut at that limit too.
const CHARACTERS: (usize, usize, usize) = (100, 20_000, 60_000);

/// The longest URL.
const MAX_URL_CHARACTERS: usize = 4000;
/// The time limit for a fetch, including redirects.
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

/// Why the text of a page cannot be read. The text is for the model.
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
        // A larger offset is after the end of every page.
        let offset = usize::try_from(offset.unwrap_or(0)).unwrap_or(usize::MAX);
        present(&url, page.truncated, &article, offset, max)
    }

    /// Extracts the text of a page. Takes the body out of `page`.
    async fn read(&self, page: &mut Page, redactor: &Redactor) -> Result<Article, ReadError> {
        let body = std::mem::take(&mut page.body);
        match page.kind {
            Kind::Pdf => return Ok(self.pdf_reader.read(body).await?),
            Kind::Archive => return self.document(body).await,
            Kind::Html | Kind::Text | Kind::Data | Kind::Image => {}
        }
        // Both the source and the result are redacted, because Markdown escapes characters.
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
