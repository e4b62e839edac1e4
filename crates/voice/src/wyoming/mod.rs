//! The Wyoming protocol: speech and transcription over TCP. Contains a server for clients such as Home Assistant.
//! [`program`] calls programs such as wyoming-piper.
//!
//! The protocol has no authentication. Only clients on this machine and in the configured networks may connect.

mod connection;
mod departure;
mod event;
mod incoming;
mod info;
mod places;
mod program;
mod sample_format;
mod speaking;
mod text_stream;

pub(crate) use program::{check, is_at, listen, speak, transcribe_stream, voices};

use crate::Voice;
use connection::Connection;
use gatehouse_domain::{Cidr, canonical_ip};
use places::ConnectionSlots;
use std::net::IpAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The pause after a failed accept, usually for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl Voice {
    /// Serves Wyoming clients of this machine and of `networks` until `shutdown`.
    pub async fn serve_wyoming(
        self,
        listener: TcpListener,
        networks: Vec<Cidr>,
        shutdown: CancellationToken,
    ) {
        let places = ConnectionSlots::default();
        let tasks = TaskTracker::new();
        let accepting = async {
            loop {
                let (stream, peer) = match listener.accept().await {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        tracing::debug!(%error, "a Wyoming connection could not be accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                        continue;
                    }
                };
                if !is_allowed(peer.ip(), &networks) {
                    tracing::info!(client = %peer.ip(), "refused a Wyoming client; see voice.wyoming.allowed_cidrs");
                    continue;
                }
                let place = match places.take(peer.ip()) {
                    Ok(place) => place,
                    Err(full) => {
                        tracing::warn!(client = %peer.ip(), "refused a Wyoming client: {full}");
                        continue;
                    }
                };
                drop(stream.set_nodelay(true));
                let connection = Connection::new(self.clone(), stream);
                let shutdown = shutdown.clone();
                tasks.spawn(async move {
                    shutdown
                        .run_until_cancelled(Box::pin(connection.serve()))
                        .await;
                    drop(place);
                });
            }
        };
        shutdown.run_until_cancelled(accepting).await;
        tasks.close();
        tasks.wait().await;
    }
}

fn is_allowed(client: IpAddr, networks: &[Cidr]) -> bool {
    canonical_ip(client).is_loopback() || networks.iter().any(|network| network.contains(client))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_and_listed_networks_may_connect() {
        let networks = ["192.168.1.0/24".parse().unwrap()];
        let allowed = |ip: &str, networks: &[Cidr]| is_allowed(ip.parse().unwrap(), networks);
        for (ip, alone, listed) in [
            ("127.0.0.1", true, true),
            ("::1", true, true),
            ("::ffff:127.0.0.1", true, true),
            ("192.168.1.7", false, true),
            ("::ffff:192.168.1.7", false, true),
            ("192.168.2.7", false, false),
            ("8.8.8.8", false, false),
        ] {
            assert_eq!(allowed(ip, &[]), alone, "{ip}");
            assert_eq!(allowed(ip, &networks), listed, "{ip}");
        }
    }
}
