//! The room, open, over a database of its own.
