//! The cases, by subject.

pub mod calls;
pub mod formats;
pub mod keys;
pub mod personas;
pub mod program;
pub mod text;
pub mod trouble;
pub mod voice;
