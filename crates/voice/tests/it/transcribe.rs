//! Listening through the handle.
