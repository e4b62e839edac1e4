//! Connects WebSockets.

use super::{HTTP_1, Outbound, build, builder};
use crate::policy::Policy;
use crate::socket::Socket;
use crate::{AddressSource, OutboundError, socket};
use reqwest::Client;
use url::Url;

impl Outbound {
    /// Connects a WebSocket to a `ws` or `wss` URL that the owner configured, or that belongs to a vendor the owner
    /// named. Refuses the same addresses as [`Self::send`] with [`AddressSource::Owner`]. A received message may
    /// have up to `max_bytes`. There is no timeout for the answer.
    pub async fn connect_socket(
        &self,
        url: &Url,
        max_bytes: usize,
    ) -> Result<Socket, OutboundError> {
        let url = socket::http_url(url)?;
        self.check_url(AddressSource::Owner, &url)?;
        let client = self.socket_client()?;
        let (request, key) = socket::opening(client, url)?;
        let response = client.execute(request).await?;
        socket::accepted(response, &key, max_bytes).await
    }

    fn socket_client(&self) -> Result<&Client, OutboundError> {
        let sockets = &self.inner.sockets;
        if let Some(known) = sockets.get() {
            return Ok(known);
        }
        let made = build(builder(Policy::NoMetadata, &[HTTP_1])?.http1_only())?;
        Ok(sockets.get_or_init(|| made))
    }
}
