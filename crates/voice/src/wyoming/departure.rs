//! Detects whether a client that has closed its sending side still reads.
//!
//! A fully closed connection looks the same until data is sent on it, which the client's system then refuses. The probe
//! is therefore an event that clients ignore.

use super::event::Event;
use super::incoming::Incoming;
use serde_json::Value;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

/// Whether an event is being written. No other bytes may be written then.
#[derive(Clone, Debug, Default)]
pub(super) struct Writing(Arc<AtomicBool>);

impl Writing {
    pub(super) fn set(&self, is_writing: bool) {
        self.0.store(is_writing, Ordering::Relaxed);
    }

    fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Waits until the client stops reading. The future can be dropped at any time.
pub(super) async fn departure(incoming: &mut Incoming<OwnedReadHalf>, writing: &Writing) {
    if incoming.end().await.is_err() {
        return;
    }
    let stream: &TcpStream = incoming.stream().as_ref();
    // If an event is being written, the system refuses that event too, so no probe is needed.
    if !writing.is_on() && !is_probed(stream).await {
        return;
    }
    if stream.ready(Interest::ERROR).await.is_err() {
        // Unsupported on this system. The end of the connection is detected when the answer is
        // sent.
        pending::<()>().await;
    }
}

/// Sends an event outside any request. Returns false if the system refuses it immediately.
async fn is_probed(stream: &TcpStream) -> bool {
    let mut probe = Vec::new();
    let written = Event::new("pong", Value::Null).write(&mut probe).await;
    // A client that has read nothing for this long has no buffer space for the answer.
    written.is_ok()
        && stream
            .try_write(&probe)
            .is_ok_and(|sent| sent == probe.len())
}
