//! Personas, stored and applied.
