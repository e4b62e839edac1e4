//! Bytes that are charged to a caller while they are kept.

use bytes::Bytes;
use gatehouse_domain::Problem;
use gatehouse_rpc::memory_budget::Share;

/// The retry delay for a caller whose body does not fit into memory, in milliseconds.
const ROOM_WAIT_MS: u64 = 1000;

/// Bytes that stay charged until they are dropped.
pub(crate) struct Charged<T> {
    bytes: T,
    _share: Share,
}

impl<T: AsRef<[u8]> + Send + 'static> Charged<T> {
    /// Wraps bytes that are charged to the share.
    pub(crate) fn bytes(bytes: T, share: Share) -> Bytes {
        Bytes::from_owner(Self {
            bytes,
            _share: share,
        })
    }
}

impl<T: AsRef<[u8]>> AsRef<[u8]> for Charged<T> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

/// Returns the error for a body that currently does not fit into memory.
pub(crate) fn no_room() -> Problem {
    Problem::rate_limited(ROOM_WAIT_MS)
}
