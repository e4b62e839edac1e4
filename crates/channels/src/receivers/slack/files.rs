//! The files of messages. Their addresses need the bot token
//! (<https://docs.slack.dev/reference/objects/file-object#authentication>).

use super::super::Source;
use super::super::download::{download, file_url};
use super::{NOUN, ask};
use crate::error::Failure;
use crate::senders::slack::BASE_URL;
use crate::vendor::Limits;
use gatehouse_outbound::AddressSource;
use std::time::Duration;

const HOSTS: [&str; 1] = ["files.slack.com"];
/// The description of a text file contains a part of the text.
const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(10),
    bytes: 2 * 1024 * 1024,
};
const NO_SCOPE: &str = "Slack refused a file: the app needs the scope files:read.";
const UNKNOWN: &str = "Slack no longer has the file.";

/// Fetches a file; `None` if it is larger than `max_bytes`.
pub(super) async fn fetch(
    source: Source<'_>,
    file_id: &str,
    max_bytes: usize,
) -> Result<Option<Vec<u8>>, Failure> {
    let form = [("file", file_id)];
    let (answer, found) = ask(source, "files.info", "bot_token", &form, LIMITS).await?;
    if !found.is_true("/ok") {
        return Err(match found.text("/error") {
            "missing_scope" | "no_permission" | "not_allowed_token_type" => {
                Failure::refused(NO_SCOPE)
            }
            "file_not_found" | "file_deleted" => Failure::refused(UNKNOWN),
            "ratelimited" => answer.later(NOUN, None),
            _ => Failure::later("Slack refused `files.info`."),
        });
    }
    let size = found.number("/file/size").unwrap_or_default();
    if usize::try_from(size).is_ok_and(|size| size > max_bytes) {
        return Ok(None);
    }
    let url = match found.text("/file/url_private_download") {
        "" => found.text("/file/url_private"),
        url => url,
    };
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = file_url(url, &HOSTS, base, NOUN)?;
    let client = source.inner.outbound.client(AddressSource::Owner);
    let request = client
        .get(url)
        .bearer_auth(source.need_secret("bot_token")?);
    download(source, NOUN, request, max_bytes).await
}
