//! Fetches a page and limits the size of its body. Follows redirects here, so each target is checked.

use super::kind::{self, Kind};
use gatehouse_outbound::{AddressSource, Outbound, OutboundError, read_capped};
use reqwest::Response;
use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, LOCATION, USER_AGENT};
use url::Url;

/// Limit on the body after decompression.
pub(super) const MAX_BODY_BYTES: usize = 2 << 20;
/// The maximum size of a PDF, an office document or an image. An incomplete file cannot be read.
pub(super) const MAX_FILE_BYTES: usize = 10 << 20;
/// Limit on consecutive redirects.
pub(super) const MAX_REDIRECTS: usize = 5;

/// The constant user agent: product, version and tool.
const AGENT: &str = concat!("Gatehouse/", env!("CARGO_PKG_VERSION"), " (web_fetch)");
const ACCEPTED: &str = "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.9,application/pdf;q=0.8,image/jpeg;q=0.8,image/png;q=0.8,image/webp;q=0.8,*/*;q=0.5";

/// A fetched page.
#[derive(Debug)]
pub(super) struct Page {
    /// The URL after redirects.
    pub(super) url: Url,
    pub(super) kind: Kind,
    /// From the response header.
    pub(super) charset: Option<String>,
    pub(super) body: Vec<u8>,
    /// Whether the body exceeded the limit.
    pub(super) truncated: bool,
}

/// Why a page could not be fetched. The text is for the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("This cannot be fetched: {0}.")]
    Outbound(#[from] OutboundError),
    #[error("The page redirects more than {MAX_REDIRECTS} times.")]
    TooManyRedirects,
    #[error("The page redirects to a URL that cannot be followed.")]
    BadRedirect,
    #[error("The page redirects from https to http, which is not followed.")]
    Downgrade,
    #[error("The page redirects to another server, which must not receive the secret.")]
    LeavesOrigin,
    #[error("The server responded with status {0}.")]
    Status(u16),
    #[error(
        "This is not text, HTML, JSON, XML, a PDF, an office document or an image, so it cannot be \
         read."
    )]
    NotText,
    /// Contains the limit in MiB.
    #[error("The file is larger than {0} MiB, so it cannot be read.")]
    FileTooLarge(usize),
}

/// Fetches a page, following redirects. The headers are sent only to the URL's origin. A request with secrets follows
/// no redirect to another origin, because the target may contain the secrets.
pub(super) async fn get(
    outbound: &Outbound,
    mut url: Url,
    headers: &HeaderMap,
    has_secrets: bool,
) -> Result<Page, FetchError> {
    let origin = url.origin();
    for _ in 0..=MAX_REDIRECTS {
        // Fragments are not sent to servers.
        url.set_fragment(None);
        let is_same = url.origin() == origin;
        let response = send(outbound, &url, is_same.then_some(headers)).await?;
        match redirect(&response, &url)? {
            Some(next) if has_secrets && next.origin() != origin => {
                return Err(FetchError::LeavesOrigin);
            }
            Some(next) => url = next,
            None => return page(response, url).await,
        }
    }
    Err(FetchError::TooManyRedirects)
}

async fn send(
    outbound: &Outbound,
    url: &Url,
    headers: Option<&HeaderMap>,
) -> Result<Response, FetchError> {
    // The URL is checked first. The request builder would turn a user name in the URL into a header, and the check
    // would miss it.
    outbound.check_url(AddressSource::Public, url)?;
    let request = outbound
        .client(AddressSource::Public)
        .get(url.clone())
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, ACCEPTED)
        .header(ACCEPT_LANGUAGE, "en, *;q=0.5")
        .headers(headers.cloned().unwrap_or_default())
        .build()
        .map_err(OutboundError::from)?;
    Ok(outbound.send(AddressSource::Public, request).await?)
}

/// Returns the redirect target, if any. [`Outbound::send`] decides whether the target may be
/// called.
fn redirect(response: &Response, from: &Url) -> Result<Option<Url>, FetchError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = response.headers().get(LOCATION);
    let location = location.and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let to = location.and_then(|location| from.join(location).ok());
    let to = to.ok_or(FetchError::BadRedirect)?;
    if from.scheme() == "https" && to.scheme() == "http" {
        return Err(FetchError::Downgrade);
    }
    Ok(Some(to))
}

async fn page(response: Response, url: Url) -> Result<Page, FetchError> {
    if !response.status().is_success() {
        return Err(FetchError::Status(response.status().as_u16()));
    }
    let header = response.headers().get(CONTENT_TYPE);
    let header = header.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let (stated, charset) = header
        .as_deref()
        .map_or((None, None), kind::of_content_type);
    if stated.is_none() && !header.as_deref().is_none_or(kind::may_be_file) {
        return Err(FetchError::NotText);
    }
    let max_bytes = if stated.is_none_or(Kind::is_file) {
        MAX_FILE_BYTES
    } else {
        MAX_BODY_BYTES
    };
    let (mut body, mut truncated) = read_capped(response, max_bytes).await?;
    let kind = kind::of_file(&body).or(stated);
    // Text with the content type of a file is not read as text.
    let guessed = || header.is_none().then(|| kind::of_text(&body)).flatten();
    let kind = kind.or_else(guessed).ok_or(FetchError::NotText)?;
    if kind.is_file() && truncated {
        return Err(FetchError::FileTooLarge(max_bytes >> 20));
    }
    if !kind.is_file() && body.len() > MAX_BODY_BYTES {
        body.truncate(MAX_BODY_BYTES);
        truncated = true;
    }
    Ok(Page {
        url,
        kind,
        charset,
        body,
        truncated,
    })
}
