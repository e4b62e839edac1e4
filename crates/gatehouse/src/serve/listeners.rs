//! Opens the listeners of the server.

use crate::compose::App;
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// A port that a setting names cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}, the address of {setting}")]
pub struct ListenError {
    setting: &'static str,
    address: SocketAddr,
    source: std::io::Error,
}

/// The listeners on other ports than the main one.
pub(super) struct OtherListeners {
    pub(super) metrics: Option<TcpListener>,
    #[cfg(feature = "voice")]
    pub(super) wyoming: Option<TcpListener>,
}

/// Opens the port that the setting names, if it is set.
async fn listen(
    setting: &'static str,
    address: Option<SocketAddr>,
) -> Result<Option<TcpListener>, ListenError> {
    let Some(address) = address else {
        return Ok(None);
    };
    let opened = TcpListener::bind(address).await;
    opened.map(Some).map_err(|source| ListenError {
        setting,
        address,
        source,
    })
}

impl App {
    /// Opens the ports of `metrics.bind` and `voice.wyoming.bind`, if they are set.
    pub(super) async fn listen_besides(&self) -> Result<OtherListeners, ListenError> {
        let resolved = self.services().config.resolved();
        let metrics = &resolved.settings.metrics;
        let metrics = metrics.bind.filter(|_| metrics.enabled);
        Ok(OtherListeners {
            metrics: listen("metrics.bind", metrics).await?,
            #[cfg(feature = "voice")]
            wyoming: listen("voice.wyoming.bind", resolved.settings.voice.wyoming.bind).await?,
        })
    }
}
