//! `discord`: the gateway (<https://docs.discord.com/developers/events/gateway>). An interrupted session is resumed:
//! Discord sends the events after the last event that was stored.

mod buttons;
mod events;
mod gateway;
mod media;

use super::buttons::Buttons;
use super::download::{download, file_url};
use super::{Inbox, PlaceKeys, Receiver, Receiving, Source, VoiceFormat};
use crate::error::Failure;
use crate::media::Media;
use crate::receive::{ReceiveError, Received};
use crate::vendor::{Answer, Limits, call_within, join_default};
use crate::vendor_apis::discord::{AGENT, BASE_URL};
use buttons::DiscordButtons;
use futures_util::future::BoxFuture;
use gatehouse_outbound::AddressSource;
use gateway::Listening;
use reqwest::header::{AUTHORIZATION, USER_AGENT};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use std::time::Duration;

const NOUN: &str = "Discord";
/// The hosts of attachments.
const FILE_HOSTS: [&str; 2] = ["cdn.discordapp.com", "media.discordapp.net"];
const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(10),
    bytes: 64 * 1024,
};

#[derive(Debug)]
pub(crate) struct DiscordReceiver;

impl Receiver for DiscordReceiver {
    fn start(&self) -> Box<dyn Receiving> {
        Box::new(Listening::default())
    }

    fn inbox<'a>(&self, source: &'a Source<'a>) -> Option<Inbox<'a>> {
        let token = source.need_secret("bot_token").ok()?;
        let base = source.field("base_url").unwrap_or(BASE_URL);
        Some(Inbox::of_token(base, token))
    }

    fn place_keys(&self) -> PlaceKeys {
        PlaceKeys {
            chat: "channel_id",
            thread: None,
        }
    }

    fn buttons(&self) -> Option<&'static dyn Buttons> {
        Some(&DiscordButtons)
    }

    fn fetch_file<'a>(
        &'a self,
        source: Source<'a>,
        file_id: &'a str,
        max_bytes: usize,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Failure>> {
        Box::pin(async move {
            let url = file_url(file_id, &FILE_HOSTS, base(&source), NOUN)?;
            // The address is signed. The bot token is not sent to it.
            let client = source.inner.outbound.client(AddressSource::Owner);
            let request = client.get(url).header(USER_AGENT, AGENT);
            download(source, NOUN, request, max_bytes).await
        })
    }

    fn voice(&self) -> Option<VoiceFormat> {
        Some(media::FORMAT)
    }

    fn max_picture_bytes(&self) -> Option<usize> {
        Some(media::MAX_BYTES)
    }

    fn send_media<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
        _thread: Option<&'a str>,
        media: &'a Media,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(media::send(source, chat, media))
    }

    fn show_typing<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
        _thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let answer = call(source, Method::POST, &["channels", chat, "typing"]).await?;
            answer.check(NOUN, answer.response_json().seconds("/retry_after"))
        })
    }
}

impl Receiving for Listening {
    fn receive<'a>(
        &'a mut self,
        source: Source<'a>,
        position: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Received, ReceiveError>> {
        Box::pin(async move {
            let received = self.listen(source, position).await;
            if received.is_err() {
                self.close();
            }
            received
        })
    }
}

fn base<'a>(source: &'a Source<'_>) -> &'a str {
    source.field("base_url").unwrap_or(BASE_URL)
}

async fn call(source: Source<'_>, method: Method, path: &[&str]) -> Result<Answer, Failure> {
    send(source, request(source, method, path)?).await
}

/// Calls like [`call`], with a body.
async fn call_with(
    source: Source<'_>,
    method: Method,
    path: &[&str],
    body: &Value,
) -> Result<Answer, Failure> {
    send(source, request(source, method, path)?.json(body)).await
}

fn request(source: Source<'_>, method: Method, path: &[&str]) -> Result<RequestBuilder, Failure> {
    let inner = source.inner;
    let url = join_default(base(&source), &["api", "v10"], path)?;
    let client = inner.outbound.client(AddressSource::Owner);
    let token = source.need_secret("bot_token")?;
    Ok(client
        .request(method, url)
        .header(AUTHORIZATION, format!("Bot {token}"))
        .header(USER_AGENT, AGENT))
}

async fn send(source: Source<'_>, request: RequestBuilder) -> Result<Answer, Failure> {
    let inner = source.inner;
    call_within(&inner.outbound, &*inner.clock, NOUN, request, LIMITS).await
}

fn refused_token() -> ReceiveError {
    ReceiveError::Stopped {
        why: "Discord refused the bot token. Enter the current one.".to_owned(),
    }
}

fn not_discord() -> Failure {
    Failure::later("The server at Discord's address is not Discord.")
}
