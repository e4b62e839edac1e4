//! The values of the rate limits, for one node and for several nodes.

/// The window of both limits.
pub(crate) const WINDOW_MS: u32 = 60_000;

/// The limits that apply to a delivery. The owner can change them at any time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerMinute {
    pub(crate) webhook: u32,
    pub(crate) global: u32,
}
