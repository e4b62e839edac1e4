//! Limits of the memory for messages.

/// The default budget of a process, in bytes. Large messages raise it.
const USUAL_BYTES: usize = 256 * 1024 * 1024;

/// The number of messages of maximum size for which the budget must have room.
const LARGEST_MESSAGES: usize = 7;

/// The limits of a budget, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The limit for all holders together.
    pub total: usize,
    /// The limit for one credential, or for one client that was allowed without a credential.
    pub each: usize,
    /// The limit for all unauthenticated clients together.
    pub unauthenticated: usize,
    /// The limit for one unauthenticated client.
    pub unauthenticated_client: usize,
}

impl Limits {
    /// Returns the limits for a process with this maximum message size. The total is 256 MiB or seven messages,
    /// whichever is larger. One credential may use half of the total, all unauthenticated clients together half, and a
    /// single unauthenticated client a quarter.
    pub fn for_messages(max_message_bytes: usize) -> Self {
        let total = USUAL_BYTES.max(max_message_bytes.saturating_mul(LARGEST_MESSAGES));
        Self {
            total,
            each: total / 2,
            unauthenticated: total / 2,
            unauthenticated_client: total / 4,
        }
    }

    /// Uses the same limit everywhere.
    pub const fn flat(bytes: usize) -> Self {
        Self {
            total: bytes,
            each: bytes,
            unauthenticated: bytes,
            unauthenticated_client: bytes,
        }
    }
}
