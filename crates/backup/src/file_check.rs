//! Checks the file of an encrypted backup without its key.

use crate::BackupError;
use crate::age;
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// Size of the pieces in which a file is read.
const PIECE_BYTES: usize = 64 << 10;

/// The result of a file check. Neither result means that the file can be decrypted or restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileCheck {
    /// Every byte of the file is unchanged since its creation.
    Unchanged,
    /// The header of the file is valid. The content was not compared, because there is no checksum.
    Header,
}

/// Checks the header of an encrypted backup. If the SHA-256 checksum of its creation is given, in hexadecimal, also
/// checks every byte.
///
/// This function blocks.
///
/// # Errors
/// [`BackupError::Age`] and [`BackupError::Damaged`] if the file is damaged; [`BackupError::Io`] if it cannot be
/// read.
pub fn check_file(path: &Path, sha256: Option<&str>) -> Result<FileCheck, BackupError> {
    let mut file = File::open(path)?;
    age::check_header(BufReader::new(&file)).map_err(|error| match error {
        age::AgeError::Io(error) => BackupError::of_reading(error),
        error => BackupError::Age(error),
    })?;
    let Some(expected) = sha256 else {
        return Ok(FileCheck::Header);
    };
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            break;
        }
        hash.update(piece.get(..length).unwrap_or_default());
    }
    if HEXLOWER.encode(&hash.finalize()) != expected {
        let what = "its content is not what was written";
        return Err(BackupError::Damaged(what.to_owned()));
    }
    Ok(FileCheck::Unchanged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::age::{AgeError, FileKey, Recipient, encrypt};
    use gatehouse_domain::SeededRandom;
    use std::io::Write;

    const RECIPIENT: &str = "age1slgc7ysft3t0226a4zjmpjmlvwuc6la8hjmj86qhhtdnxfext3wqhpgu3d";

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn a_changed_byte_and_a_missing_one_are_found_only_with_the_checksum() {
        let mut bytes = Vec::new();
        let recipient = Recipient::parse(RECIPIENT).unwrap();
        let random = SeededRandom::new(1);
        let key = FileKey::generate(&random);
        let mut to = encrypt(&mut bytes, &recipient, &key, &random).unwrap();
        to.write_all(&vec![7; 2 * PIECE_BYTES]).unwrap();
        to.finish().unwrap();
        let sum = HEXLOWER.encode(&Sha256::digest(&bytes));
        let whole = file(&bytes);
        let check = |file: &tempfile::NamedTempFile, sum| check_file(file.path(), sum);
        assert_eq!(check(&whole, Some(&sum)).unwrap(), FileCheck::Unchanged);
        assert_eq!(check(&whole, None).unwrap(), FileCheck::Header);
        let last = bytes.len() - 1;
        let cut = file(&bytes[..last]);
        let mut other = bytes.clone();
        other[last] ^= 1;
        for damaged in [cut, file(&other)] {
            let found = check(&damaged, Some(&sum));
            assert!(matches!(found, Err(BackupError::Damaged(_))), "{found:?}");
            assert_eq!(check(&damaged, None).unwrap(), FileCheck::Header);
        }
    }

    #[test]
    fn a_file_without_a_header_is_damaged_and_one_that_is_missing_is_not() {
        for text in ["", "\u{1f}\u{8b}", "age-encryption.org/v1\n-> X25519"] {
            let found = check_file(file(text.as_bytes()).path(), None);
            let is_header = matches!(found, Err(BackupError::Age(AgeError::Header)));
            assert!(is_header, "{text:?}: {found:?}");
        }
        let missing = file(b"").path().to_path_buf();
        let found = check_file(&missing, None);
        assert!(matches!(found, Err(BackupError::Io(_))), "{found:?}");
    }
}
