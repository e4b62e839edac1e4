//! Speaking through the handle.
