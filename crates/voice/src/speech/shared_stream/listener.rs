//! One listener of a shared stream.

use super::{Begun, SharedStream, own};
use crate::VoiceError;
use crate::speech::observed::Body;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::sync::Arc;

/// A request's read position in a stream.
pub(in super::super) struct Listener {
    id: u64,
    pub(super) stream: Arc<SharedStream>,
}

impl Listener {
    pub(super) fn first(stream: Arc<SharedStream>) -> Self {
        let id = stream.log().enter();
        Self { id, stream }
    }

    /// Returns `None` if the stream has ended, has failed, or has dropped its first bytes.
    pub(super) fn of(stream: Arc<SharedStream>) -> Option<Self> {
        if stream.has_failed() {
            return None;
        }
        let id = {
            let mut log = stream.log();
            log.is_open().then(|| log.enter())
        };
        Some(Self { id: id?, stream })
    }

    /// Waits until the stream begins. The flag is true if the stream comes from the cache. An error before the first
    /// byte reaches every listener.
    pub(in super::super) async fn begun(self) -> Result<Begun, VoiceError> {
        let beginning = self.stream.beginning.clone();
        match beginning.await {
            Ok(is_cached) => Ok((self.body(), is_cached)),
            Err(error) => {
                drop(self);
                Err(own(error))
            }
        }
    }

    pub(super) fn body(self) -> Body {
        let pieces = stream::unfold(Some(self), |listener| async move {
            let listener = listener?;
            let piece = listener.next().await?;
            let rest = piece.is_ok().then_some(listener);
            Some((piece, rest))
        });
        pieces.boxed()
    }

    pub(super) async fn next(&self) -> Option<Result<Bytes, VoiceError>> {
        loop {
            let (number, next) = {
                let mut log = self.stream.log();
                if let Some(piece) = log.read(self.id) {
                    return Some(piece);
                }
                (log.end(), log.next.clone()?)
            };
            let piece = next.await;
            self.stream.log().add(number, piece, &self.stream.source);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut log = self.stream.log();
        log.positions.remove(&self.id);
        log.trim();
    }
}
