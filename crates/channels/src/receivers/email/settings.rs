//! The fields of an account that receives mail.

use super::error::ImapError;
use super::session::Session;
use crate::error::Failure;
use crate::fields::parse_host;
use crate::receivers::Source;
use data_encoding::HEXLOWER;
use lettre::message::{Mailbox as Address, Mailboxes};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The fields of an account that receives.
pub(super) struct Settings<'a> {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) security: &'a str,
    pub(super) user: &'a str,
    pub(super) password: &'a str,
    pub(super) mailbox: &'a str,
    pub(super) authserv_id: &'a str,
    /// The account's own addresses, in lower case.
    pub(super) addresses: Vec<String>,
}

impl<'a> Settings<'a> {
    pub(super) fn of(source: &'a Source<'a>) -> Result<Self, Failure> {
        let need = |name: &'static str| {
            let value = source.field(name);
            value.ok_or_else(|| Failure::incomplete(name, "the channel has none"))
        };
        let authserv_id = source.field("authserv_id").ok_or_else(|| {
            Failure::incomplete(
                "authserv_id",
                "without it, no sender of an email can be recognized, so no email is read",
            )
        })?;
        let host = parse_host(need("imap_host")?)
            .ok_or_else(|| Failure::incomplete("imap_host", "it is not the name of a server"))?;
        let security = source.field("imap_security").unwrap_or("tls");
        let port = source.account.fields.get("imap_port");
        let port = port
            .and_then(Value::as_u64)
            .and_then(|port| u16::try_from(port).ok());
        Ok(Self {
            host: host.to_string().trim_matches(['[', ']']).to_owned(),
            port: port.unwrap_or(if security == "tls" { 993 } else { 143 }),
            security,
            user: need("imap_user")?,
            password: source.need_secret("imap_password")?,
            mailbox: source.field("mailbox").unwrap_or("INBOX"),
            authserv_id,
            addresses: addresses(source),
        })
    }

    /// Returns the part of the position that identifies the mailbox, without its UIDVALIDITY.
    pub(super) fn place(&self) -> String {
        let whole = format!("{}\0{}\0{}", self.host, self.user, self.mailbox);
        let digest = Sha256::digest(whole);
        HEXLOWER.encode(digest.get(..8).unwrap_or_default())
    }

    pub(super) async fn open(&self, source: Source<'_>) -> Result<Session, ImapError> {
        Session::open(&source.inner.outbound, self).await
    }
}

/// Returns the addresses at which the account receives: `from`, the user if it is an address, and `imap_addresses`.
fn addresses(source: &Source<'_>) -> Vec<String> {
    let from: Option<Address> = source.field("from").and_then(|from| from.parse().ok());
    let more = source.field("imap_addresses").unwrap_or_default();
    let more: Mailboxes = more.parse().unwrap_or_default();
    let user = source.field("imap_user").filter(|user| user.contains('@'));
    let named = from.iter().chain(more.iter());
    let named = named.map(|address| address.email.to_string());
    let all = named.chain(user.map(str::to_owned));
    all.map(|address| address.to_ascii_lowercase()).collect()
}
