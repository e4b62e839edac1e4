//! The cases, by subject.

pub mod answers;
pub mod audio;
pub mod calls;
pub mod keys;
pub mod program;
pub mod settings;
pub mod trouble;
