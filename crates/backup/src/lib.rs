//! Backups: one file with all tables and some files of the data directory, optionally encrypted.
//!
//! A backup is a gzip stream, which is inside an age file if the backup is encrypted ([`age`]). [`archive`]
//! describes the lines in the stream. [`create`] reads a snapshot of the database, so the server can continue to
//! write. [`open`] and [`Archive::restore`] write a backup into an empty database. [`folder`] names the files in a
//! directory and deletes old ones.

pub mod age;
mod archive;
mod create;
mod error;
mod file_check;
mod file_lock;
pub mod folder;
mod restore;

pub use archive::{Manifest, TableEntry};
pub use create::{Created, Source, create};
pub use error::BackupError;
pub use file_check::{FileCheck, check_file};
pub use restore::{Archive, Restored, RestoredFile, open};

#[cfg(test)]
mod tests;
