//! TCP connections with and without TLS, for protocols other than HTTP.

use crate::{AddressSource, Outbound, OutboundError};
use rustls::pki_types::ServerName;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long one address may take to accept the connection, and how long the TLS handshake may take after that.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A stream of bytes in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Duplex for T {}

/// A connection to a server. Dropping it closes the connection.
pub struct Stream {
    pub io: Box<dyn Duplex>,
    /// The address of the server.
    pub address: IpAddr,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Outbound {
    /// Connects to the first permitted address of a host that accepts the connection.
    pub async fn connect(
        &self,
        reach: AddressSource,
        host: &str,
        port: u16,
    ) -> Result<Stream, OutboundError> {
        let mut outcome = Err(OutboundError::Connect);
        for address in self.resolve(reach, host).await? {
            let connecting = TcpStream::connect((address, port));
            match tokio::time::timeout(TIMEOUT, connecting).await {
                Ok(Ok(io)) => {
                    // Most messages are small, and the sender waits for an answer to each.
                    drop(io.set_nodelay(true));
                    let io = Box::new(io);
                    return Ok(Stream { io, address });
                }
                Ok(Err(_)) => {}
                Err(_) => outcome = Err(OutboundError::Timeout),
            }
        }
        outcome
    }

    /// Begins TLS on a connection. The certificate must be valid for `host` and trusted by this system.
    pub async fn secure(&self, stream: Stream, host: &str) -> Result<Stream, OutboundError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| OutboundError::Tls)?;
        let connector = TlsConnector::from(self.tls_config()?);
        let handshake = connector.connect(name, stream.io);
        match tokio::time::timeout(TIMEOUT, handshake).await {
            Ok(Ok(io)) => Ok(Stream {
                io: Box::new(io),
                address: stream.address,
            }),
            Ok(Err(_)) => Err(OutboundError::Tls),
            Err(_) => Err(OutboundError::Timeout),
        }
    }
}

#[cfg(feature = "testing")]
impl Outbound {
    /// Trusts only this certificate on connections of [`Self::secure`].
    ///
    /// # Errors
    /// If the certificate cannot be read, or a connection was made before.
    pub fn trust_only(&self, certificate: &[u8]) -> Result<(), OutboundError> {
        self.set_tls_config(crate::tls::config_trusting(certificate)?)
    }
}
