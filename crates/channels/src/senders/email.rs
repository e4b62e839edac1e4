//! `email`: plain-text mail over SMTP. Port 465 uses TLS from the first byte; every other port requires
//! STARTTLS. Two kinds of relay are exempt: one on this machine, and one in the private network that receives
//! no password. For these, STARTTLS is used if offered, and the certificate is not verified.

mod about;

use self::about::ABOUT;
use super::{About, Part, Sender};
use crate::error::Failure;
use crate::fields::{INBOUND, parse_host};
use crate::media::Picture;
use crate::metrics;
use crate::outgoing::one_line;
use crate::own_host::own_host;
use crate::pictures::left_out_note;
use crate::receivers::Receiver;
use crate::receivers::email::{RECEIVER, Reply};
use crate::vendor::of_outbound;
use futures_util::future::BoxFuture;
use gatehouse_domain::Fence;
use gatehouse_outbound::{AddressSource, OutboundError, policy};
use lettre::address::Envelope;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Mailbox, Mailboxes, MultiPart, SinglePart};
use lettre::transport::smtp;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use serde_json::Value;
use std::error::Error;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::{Duration, UNIX_EPOCH};

const TIMEOUT: Duration = Duration::from_secs(30);
/// How long sending an email may take once its server is found. The library limits only the connecting.
const SENDING: Duration = Duration::from_mins(5);
const SUBMISSION: u16 = 587;
const SUBMISSION_OVER_TLS: u16 = 465;
/// Maximum size of the pictures of an email together, in bytes. In base64 they are a third larger, and many servers
/// accept 10 MB.
const MAX_PICTURES_BYTES: usize = 7_000_000;

/// The reply codes about logging in (RFC 4954, section 6).
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

/// The pictures that an email may have together.
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

/// Sends an email with these pictures. Its text mentions that others are left out.
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

/// A composed email.
struct Mail {
    envelope: Envelope,
    bytes: Vec<u8>,
}

/// The library encodes header values. This function additionally ensures that each is a single line.
fn compose(part: &Part<'_>, pictures: &[&Picture]) -> Result<Mail, Failure> {
    let wrong = |field| Failure::incomplete(field, "it is not an email address");
    // The sender is always the account's; a message cannot override it.
    let from = part.field("from").unwrap_or_default();
    let from: Mailbox = from.parse().map_err(|_| wrong("from"))?;
    let to: Mailboxes = part.need("to")?.parse().map_err(|_| wrong("to"))?;
    let source = one_line(part.message.source);
    let subject = part.message.extra("subject").unwrap_or(source);
    let reply = part.message.extra("reply");
    let reply = reply.and_then(|reply| Reply::decode(&reply));
    let (submitted, subject) = match &reply {
        Some(reply) => ("auto-replied", reply.subject.clone()),
        None => ("auto-generated", subject),
    };
    let millis = u64::try_from(part.message.at.as_millis()).unwrap_or(0);
    let id = format!("<{}@{}>", part.part_id(), from.email.domain());
    let mut builder = Message::builder()
        .from(from)
        .subject(subject)
        .date(UNIX_EPOCH + Duration::from_millis(millis))
        .message_id(Some(id))
        // RFC 3834: prevents automatic replies to this email.
        .raw_header(HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            submitted.to_owned(),
        ));
    if let Some(reply) = reply {
        if let Some(id) = reply.to {
            builder = builder.in_reply_to(id);
        }
        if !reply.references.is_empty() {
            builder = builder.references(reply.references.join(" "));
        }
    }
    for recipient in to {
        builder = builder.to(recipient);
    }
    let left_out = part.message.pictures.len().saturating_sub(pictures.len());
    let text = SinglePart::plain(match left_out {
        0 => part.text.to_owned(),
        count => {
            let text = format!("{}\n\n{}", part.text, left_out_note(count));
            text.trim_start().to_owned()
        }
    });
    let mail = if pictures.is_empty() {
        builder.singlepart(text)
    } else {
        builder.multipart(with_pictures(text, pictures)?)
    };
    let mail = mail.map_err(|_| wrong("to"))?;
    Ok(Mail {
        envelope: mail.envelope().clone(),
        bytes: mail.formatted(),
    })
}

fn with_pictures(text: SinglePart, pictures: &[&Picture]) -> Result<MultiPart, Failure> {
    let mut parts = MultiPart::mixed().singlepart(text);
    for (at, picture) in pictures.iter().enumerate() {
        let media = picture.media(at + 1, "");
        let kind = ContentType::parse(media.content_type)
            .map_err(|_| Failure::refused("A picture could not be attached."))?;
        let file = Attachment::new(media.name).body(Vec::<u8>::from(media.data), kind);
        parts = parts.singlepart(file);
    }
    Ok(parts)
}

/// The server and the credentials sent to it.
struct Relay {
    /// The name used for certificate checks and name resolution.
    host: String,
    port: u16,
    credentials: Option<Credentials>,
    /// The name or address literal of this server.
    own_host: Option<String>,
}

impl Relay {
    fn of(part: &Part<'_>) -> Result<Self, Failure> {
        let host = part
            .field("host")
            .and_then(parse_host)
            .ok_or_else(|| Failure::incomplete("host", "it is not the name of a server"))?;
        let host = host.to_string();
        let number = part.account.fields.get("port").and_then(Value::as_u64);
        let credentials = match (part.field("user"), part.secret("password")) {
            (Some(user), Some(password)) => {
                Some(Credentials::new(user.to_owned(), password.to_owned()))
            }
            _ => None,
        };
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: number
                .and_then(|number| u16::try_from(number).ok())
                .unwrap_or(SUBMISSION),
            credentials,
            own_host: own_host(part.inner.host.load().as_ref().map(|host| host.as_str())),
        })
    }

    /// Creates a transport that connects to exactly this address.
    fn transport(&self, address: IpAddr) -> Result<AsyncSmtpTransport<Tokio1Executor>, Failure> {
        let mut builder =
            AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(address.to_string())
                .port(self.port)
                .tls(self.tls(address)?)
                .timeout(Some(TIMEOUT));
        if let Some(host) = &self.own_host {
            builder = builder.hello_name(ClientId::Domain(host.clone()));
        }
        if let Some(credentials) = &self.credentials {
            builder = builder.credentials(credentials.clone());
        }
        Ok(builder.build())
    }

    fn tls(&self, address: IpAddr) -> Result<Tls, Failure> {
        let strict = !self.may_be_plain(address);
        let parameters = TlsParameters::builder(self.host.clone())
            .dangerous_accept_invalid_certs(!strict)
            .dangerous_accept_invalid_hostnames(!strict)
            .build()
            .map_err(|_| Failure::refused("TLS could not be set up for the mail server."))?;
        Ok(if self.port == SUBMISSION_OVER_TLS {
            Tls::Wrapper(parameters)
        } else if strict {
            Tls::Required(parameters)
        } else {
            Tls::Opportunistic(parameters)
        })
    }

    /// Returns whether mail may be sent to this address without TLS.
    fn may_be_plain(&self, address: IpAddr) -> bool {
        self.port != SUBMISSION_OVER_TLS
            && (address.to_canonical().is_loopback()
                || (self.credentials.is_none() && !policy::is_public(address)))
    }
}

/// Returns whether this address is unreachable. Another address of the same server may still work.
fn was_not_reached(error: &smtp::Error) -> bool {
    let mut cause = error.source();
    while let Some(next) = cause {
        if let Some(io) = next.downcast_ref::<std::io::Error>() {
            return matches!(
                io.kind(),
                ErrorKind::ConnectionRefused
                    | ErrorKind::NetworkUnreachable
                    | ErrorKind::HostUnreachable
                    | ErrorKind::AddrNotAvailable
            );
        }
        cause = next.source();
    }
    false
}

/// Returns whether the server may accept the same email without pictures: it refused this one, or closed the connection
/// early. Some servers close it when an email is too large.
fn may_depend_on_size(error: &smtp::Error) -> bool {
    match error.status().map(u16::from) {
        Some(code) => !LOGIN_REFUSED.contains(&code),
        None => {
            !(error.is_tls() || error.is_client() || error.is_timeout() || was_not_reached(error))
        }
    }
}

/// Maps the server's reply code to a failure (RFC 5321, section 4.2.1).
fn verdict(error: &smtp::Error) -> Failure {
    let code = error.status().map(u16::from);
    match code {
        Some(code) if LOGIN_REFUSED.contains(&code) => Failure::refused(WRONG_PASSWORD),
        Some(code) if error.is_permanent() => {
            Failure::refused(format!("The mail server refused the message ({code})."))
        }
        Some(code) => Failure::later(format!(
            "The mail server cannot take the message right now ({code})."
        )),
        None if error.is_tls() => Failure::refused("The mail server's certificate is not trusted."),
        None if error.is_client() => Failure::refused(
            "The mail server lacks a required feature: STARTTLS, or a supported way to log in.",
        ),
        None if error.is_timeout() => Failure::unreachable(NO_ANSWER),
        None => Failure::unreachable(
            "The mail server could not be reached, or closed the connection early.",
        ),
    }
}

#[cfg(test)]
mod tests;
