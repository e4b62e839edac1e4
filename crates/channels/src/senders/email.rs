//! `email`: plain-text mail over SMTP. Port 465 uses TLS from the first byte; every other port requires STARTTLS. Two
//! kinds of relay are exempt: a relay on this machine, and a relay in the private network that receives no password.
//! For these, STARTTLS is used if offered, and the certificate is not verified.

mod about;
mod compose;
mod relay;

use self::about::ABOUT;
use super::{About, Part, Sender};
use crate::error::Failure;
use crate::fields::INBOUND;
use crate::media::Picture;
use crate::metrics;
use crate::receivers::Receiver;
use crate::receivers::email::RECEIVER;
use crate::vendor::of_outbound;
use compose::compose;
use futures_util::future::BoxFuture;
use gatehouse_domain::Fence;
use gatehouse_outbound::{AddressSource, OutboundError};
use lettre::AsyncTransport;
use relay::{Relay, may_depend_on_size, verdict, was_not_reached};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit for sending an email after its server was found. The library limits only the time for connecting.
const SENDING: Duration = Duration::from_mins(5);
const SUBMISSION: u16 = 587;
const SUBMISSION_OVER_TLS: u16 = 465;
/// The maximum total size of the pictures of an email, in bytes. In base64 they are a third larger, and many servers
/// accept 10 MB.
const MAX_PICTURES_BYTES: usize = 7_000_000;

/// The SMTP reply codes for login failures (RFC 4954, section 6).
const LOGIN_REFUSED: [u16; 4] = [530, 534, 535, 538];
pub(crate) const NO_ANSWER: &str = "The mail server did not respond in time.";
pub(crate) const NOT_REACHED: &str = "The mail server could not be reached.";
pub(crate) const WRONG_PASSWORD: &str = "The mail server refused the user name or the password.";

#[derive(Debug)]
pub(crate) struct Email;

impl Sender for Email {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, has: &dyn Fn(&str) -> bool) -> Result<(), (&'static str, &'static str)> {
        match (has("user"), has("password")) {
            (true, false) => Err(("password", "required with a user")),
            (false, true) => Err(("user", "required with a password")),
            _ => Ok(()),
        }?;
        let needed = ["imap_host", "imap_user", "imap_password"];
        match needed.into_iter().find(|field| !has(field)) {
            Some(field) if has(INBOUND) => Err((field, "required to receive messages")),
            _ => Ok(()),
        }
    }

    fn receiver(&self) -> Option<&'static dyn Receiver> {
        Some(&RECEIVER)
    }

    fn attaches_pictures(&self) -> bool {
        true
    }

    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let pictures = that_fit(part.message.pictures);
            let (sent, attached) = match deliver(&part, &pictures).await {
                Err(failed) if failed.may_depend_on_size && !pictures.is_empty() => {
                    let (account, failure) = (&part.account.id, failed.failure);
                    tracing::warn!(account, ?failure, "an email with pictures was not sent");
                    (deliver(&part, &[]).await, 0)
                }
                sent => (sent, pictures.len()),
            };
            if sent.is_ok() {
                for at in 0..part.message.pictures.len() {
                    let left_out = || Failure::refused("The picture is left out.");
                    let picture = (at < attached).then_some(()).ok_or_else(left_out);
                    metrics::picture(ABOUT.kind, &picture);
                }
            }
            sent.map_err(|failed| failed.failure)
        })
    }
}

/// Returns the pictures that fit into the size limit of an email.
fn that_fit(pictures: &[Picture]) -> Vec<&Picture> {
    let mut left = MAX_PICTURES_BYTES;
    let mut fitting = Vec::new();
    for picture in pictures.iter().filter(|picture| !picture.is_missing()) {
        if let Some(rest) = left.checked_sub(picture.size()) {
            left = rest;
            fitting.push(picture);
        }
    }
    fitting
}

/// Why an email was not sent.
struct Undelivered {
    failure: Failure,
    /// Whether the server may accept the email without its pictures.
    may_depend_on_size: bool,
}

impl From<Failure> for Undelivered {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            may_depend_on_size: false,
        }
    }
}

/// Sends an email with these pictures. If other pictures are omitted, the text says so.
async fn deliver(part: &Part<'_>, pictures: &[&Picture]) -> Result<(), Undelivered> {
    let mail = compose(part, pictures)?;
    let relay = Relay::of(part)?;
    let outbound = &part.inner.outbound;
    let found = outbound.resolve(AddressSource::Owner, &relay.host).await;
    let addresses = found.map_err(|error| of_outbound(ABOUT.noun, error))?;
    let unreached = Failure::unreachable(NOT_REACHED);
    let mut outcome = Undelivered::from(unreached);
    for address in addresses {
        if !Fence::current().holds() {
            return Err(of_outbound(ABOUT.noun, OutboundError::LeaseExpired).into());
        }
        let transport = relay.transport(address)?;
        let sending = transport.send_raw(&mail.envelope, &mail.bytes);
        match tokio::time::timeout(SENDING, sending).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => {
                outcome = Undelivered {
                    failure: verdict(&error),
                    may_depend_on_size: may_depend_on_size(&error),
                };
                if !was_not_reached(&error) {
                    break;
                }
            }
            Err(_) => {
                outcome = Undelivered {
                    failure: Failure::unreachable(NO_ANSWER),
                    may_depend_on_size: true,
                };
                break;
            }
        }
    }
    Err(outcome)
}

#[cfg(test)]
mod tests;
