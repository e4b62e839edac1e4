//! The hosted speakers.
