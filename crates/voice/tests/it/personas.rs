//! Tests that personas are stored and applied.
