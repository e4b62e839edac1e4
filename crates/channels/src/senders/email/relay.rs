//! The mail server that sends, and the meaning of its refusals.

use super::{LOGIN_REFUSED, NO_ANSWER, SUBMISSION, SUBMISSION_OVER_TLS, TIMEOUT, WRONG_PASSWORD};
use crate::error::Failure;
use crate::fields::parse_host;
use crate::own_host::own_host;
use crate::senders::Part;
use gatehouse_outbound::policy;
use lettre::transport::smtp;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{AsyncSmtpTransport, Tokio1Executor};
use serde_json::Value;
use std::error::Error;
use std::io::ErrorKind;
use std::net::IpAddr;

/// The server and the credentials sent to it.
pub(super) struct Relay {
    /// The name used for certificate checks and name resolution.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) credentials: Option<Credentials>,
    /// The name or address literal of this server.
    pub(super) own_host: Option<String>,
}

impl Relay {
    pub(super) fn of(part: &Part<'_>) -> Result<Self, Failure> {
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
    pub(super) fn transport(
        &self,
        address: IpAddr,
    ) -> Result<AsyncSmtpTransport<Tokio1Executor>, Failure> {
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
    pub(super) fn may_be_plain(&self, address: IpAddr) -> bool {
        self.port != SUBMISSION_OVER_TLS
            && (address.to_canonical().is_loopback()
                || (self.credentials.is_none() && !policy::is_public(address)))
    }
}

/// Returns whether this address is unreachable. Another address of the same server may still work.
pub(super) fn was_not_reached(error: &smtp::Error) -> bool {
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

/// Returns whether the server may accept the same email without pictures: it refused the email, or closed the
/// connection early. Some servers close it when an email is too large.
pub(super) fn may_depend_on_size(error: &smtp::Error) -> bool {
    match error.status().map(u16::from) {
        Some(code) => !LOGIN_REFUSED.contains(&code),
        None => {
            !(error.is_tls() || error.is_client() || error.is_timeout() || was_not_reached(error))
        }
    }
}

/// Maps the server's reply code to a failure (RFC 5321, section 4.2.1).
pub(super) fn verdict(error: &smtp::Error) -> Failure {
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
