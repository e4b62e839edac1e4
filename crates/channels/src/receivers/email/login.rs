//! Connects to an IMAP server, logs in and opens the mailbox.

use super::connection::Connection;
use super::error::ImapError;
use super::frame::parse;
use super::session::{Done, Mailbox, SMALL, Session};
use super::settings::Settings;
use crate::senders::email::WRONG_PASSWORD;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatehouse_outbound::{AddressSource, Outbound};
use imap_proto::{Response, ResponseCode, Status};

/// Response codes of temporary refusals, which need no action by the owner (RFC 5530, section 3).
const TEMPORARY: [&str; 5] = [
    "[UNAVAILABLE]",
    "[INUSE]",
    "[LIMIT]",
    "[SERVERBUG]",
    "[OVERQUOTA]",
];

impl Session {
    /// Connects, logs in and opens the mailbox.
    pub(super) async fn open(
        outbound: &Outbound,
        settings: &Settings<'_>,
    ) -> Result<Self, ImapError> {
        let (host, port) = (settings.host.as_str(), settings.port);
        let stream = outbound.connect(AddressSource::Owner, host, port).await;
        let mut connection = Connection::new(stream.map_err(ImapError::of_outbound)?);
        if settings.security == "tls" {
            connection = connection.secure(outbound, host).await?;
        } else if settings.security == "none" && !connection.is_local() {
            return Err(ImapError::stopped(
                "`imap_security` is `none`, but the mail server is not on this machine.",
            ));
        }
        greeted(&mut connection).await?;
        let mut session = Self::new(connection);
        session.read_capabilities().await?;
        if settings.security == "starttls" {
            session = session.start_tls(outbound, host).await?;
        }
        session.log_in(settings).await?;
        session.read_capabilities().await?;
        session.examine(settings.mailbox).await?;
        Ok(session)
    }

    async fn start_tls(mut self, outbound: &Outbound, host: &str) -> Result<Self, ImapError> {
        let refused = "The mail server does not offer STARTTLS.";
        if !self.can("STARTTLS") {
            return Err(ImapError::stopped(refused));
        }
        if self.command("STARTTLS", SMALL).await?.status != Status::Ok {
            return Err(ImapError::later(refused));
        }
        self.connection = self.connection.secure(outbound, host).await?;
        // Capabilities that arrived before TLS may come from an attacker.
        self.read_capabilities().await?;
        Ok(self)
    }

    async fn log_in(&mut self, settings: &Settings<'_>) -> Result<(), ImapError> {
        let done = if self.can("AUTH=PLAIN") {
            // RFC 4616, section 2.
            let answer = STANDARD.encode(format!("\0{}\0{}", settings.user, settings.password));
            if self.can("SASL-IR") {
                self.command(&format!("AUTHENTICATE PLAIN {answer}"), SMALL)
                    .await?
            } else {
                let tag = self.begin("AUTHENTICATE PLAIN").await?;
                if let Some(done) = self.continued(&tag).await? {
                    done
                } else {
                    self.connection.write(&answer).await?;
                    self.finish(&tag, SMALL).await?
                }
            }
        } else if !self.can("LOGINDISABLED") {
            let quoted = quoted(settings.user).zip(quoted(settings.password));
            let (user, password) = quoted.ok_or_else(|| {
                ImapError::stopped(
                    "The mail server accepts user names and passwords only in ASCII.",
                )
            })?;
            self.command(&format!("LOGIN {user} {password}"), SMALL)
                .await?
        } else {
            return Err(ImapError::stopped(
                "The mail server offers no login with a password.",
            ));
        };
        if done.status == Status::Ok {
            return Ok(());
        }
        Err(refusal(&done, WRONG_PASSWORD))
    }

    /// Opens the mailbox for reading.
    async fn examine(&mut self, name: &str) -> Result<(), ImapError> {
        let name = quoted(name).ok_or_else(|| {
            ImapError::stopped("`mailbox` must be ASCII. Enter other names in modified UTF-7.")
        })?;
        let done = self.command(&format!("EXAMINE {name}"), SMALL).await?;
        if done.status != Status::Ok {
            return Err(refusal(&done, "The mail server has no such mailbox."));
        }
        let mut found = (None, None);
        for response in &done.responses {
            if let Response::Data { outcome, .. } = response {
                match outcome.code {
                    Some(ResponseCode::UidValidity(validity)) => found.0 = Some(validity),
                    Some(ResponseCode::UidNext(next)) => found.1 = Some(next),
                    _ => {}
                }
            }
        }
        let (validity, next) = found;
        let validity = validity.ok_or_else(|| {
            ImapError::stopped(
                "The mail server reports no UIDVALIDITY for this mailbox, so new mail cannot be \
                 recognized.",
            )
        })?;
        self.mailbox = Mailbox { validity, next };
        self.has_news = true;
        Ok(())
    }
}

/// Reads the greeting. Refuses a server that skips the login, because it would also skip TLS (RFC
/// 9051, section 11.1).
async fn greeted(connection: &mut Connection) -> Result<(), ImapError> {
    let bytes = connection.read(SMALL).await?;
    match parse(&bytes) {
        Some(Response::Data {
            status: Status::Ok, ..
        }) => Ok(()),
        Some(Response::Data {
            status: Status::Bye,
            ..
        }) => Err(ImapError::later(
            "The mail server does not accept a connection right now.",
        )),
        _ => Err(ImapError::not_imap()),
    }
}

fn refusal(done: &Done, why: &'static str) -> ImapError {
    let words = done.words.to_ascii_uppercase();
    if TEMPORARY.iter().any(|code| words.starts_with(code)) {
        return ImapError::later("The mail server is temporarily unavailable.");
    }
    ImapError::stopped(why)
}

/// Returns a quoted string, or `None` for a text that needs a literal (RFC 9051, section 4.3).
fn quoted(text: &str) -> Option<String> {
    let is_plain = text.chars().all(|c| c.is_ascii() && !c.is_ascii_control());
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    is_plain.then(|| format!("\"{escaped}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_quotes() {
        assert_eq!(quoted("a\"b\\c d").as_deref(), Some("\"a\\\"b\\\\c d\""));
        for odd in ["a\r\nb", "ä", "\0"] {
            assert_eq!(quoted(odd), None);
        }
    }
}
