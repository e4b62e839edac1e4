//! The hosted listeners.
