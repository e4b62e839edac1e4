//! The header: the version, a stanza per recipient, and a MAC.

use super::{AgeError, FileKey, derive};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::io::{BufRead, Read};

pub(super) const VERSION: &str = "age-encryption.org/v1\n";
/// Maximum size of a header. A header with one recipient has about 200 bytes.
const MAX_BYTES: u64 = 64 << 10;
/// Length of a full line of a stanza's body. The last line is shorter and may be empty.
const BODY_LINE: usize = 64;
const END: &str = "---";

/// The file key, wrapped for one recipient.
#[derive(Debug)]
pub(super) struct Stanza {
    /// The type and its parameters.
    pub(super) arguments: Vec<String>,
    pub(super) body: Vec<u8>,
}

impl Stanza {
    /// Returns the type.
    pub(super) fn kind(&self) -> Option<&str> {
        self.arguments.first().map(String::as_str)
    }
}

/// A parsed header, with the text that the MAC covers.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) stanzas: Vec<Stanza>,
    text: String,
    mac: Vec<u8>,
}

impl Header {
    pub(super) fn verify(&self, file_key: &FileKey) -> Result<(), AgeError> {
        mac(&self.text, file_key)?
            .verify_slice(&self.mac)
            .map_err(|_| AgeError::Header)
    }
}

/// Returns the header with these stanzas.
pub(super) fn encode(stanzas: &[Stanza], file_key: &FileKey) -> Result<String, AgeError> {
    let mut text = VERSION.to_owned();
    for stanza in stanzas {
        let body = STANDARD_NO_PAD.encode(&stanza.body);
        let arguments = stanza.arguments.join(" ");
        for part in ["-> ", &arguments, "\n", &body, "\n"] {
            text.push_str(part);
        }
        if body.len().is_multiple_of(BODY_LINE) {
            text.push('\n');
        }
    }
    text.push_str(END);
    let mac = mac(&text, file_key)?.finalize().into_bytes();
    Ok(format!("{text} {}\n", STANDARD_NO_PAD.encode(mac)))
}

/// Reads a header up to and including its last line.
pub(super) fn read(from: &mut impl BufRead) -> Result<Header, AgeError> {
    let mut lines = Lines {
        from: from.take(MAX_BYTES),
        text: String::new(),
    };
    if lines.next()? != VERSION.trim_end() {
        return Err(AgeError::Header);
    }
    let mut stanzas = Vec::new();
    loop {
        let line = lines.next()?;
        if let Some(mac) = line.strip_prefix("--- ") {
            let covered = lines.text.len() - line.len() - 1 + END.len();
            lines.text.truncate(covered);
            if stanzas.is_empty() {
                return Err(AgeError::Header);
            }
            return Ok(Header {
                stanzas,
                mac: decode(mac)?,
                text: lines.text,
            });
        }
        let arguments = line.strip_prefix("-> ").ok_or(AgeError::Header)?;
        let is_argument =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        if !arguments.split(' ').all(is_argument) {
            return Err(AgeError::Header);
        }
        stanzas.push(Stanza {
            arguments: arguments.split(' ').map(str::to_owned).collect(),
            body: body(&mut lines)?,
        });
    }
}

fn body(lines: &mut Lines<impl BufRead>) -> Result<Vec<u8>, AgeError> {
    let mut text = String::new();
    loop {
        let line = lines.next()?;
        text.push_str(&line);
        if line.len() > BODY_LINE {
            return Err(AgeError::Header);
        }
        if line.len() < BODY_LINE {
            return decode(&text);
        }
    }
}

fn decode(text: &str) -> Result<Vec<u8>, AgeError> {
    STANDARD_NO_PAD.decode(text).map_err(|_| AgeError::Header)
}

fn mac(text: &str, file_key: &FileKey) -> Result<Hmac<Sha256>, AgeError> {
    let key = derive(file_key.as_slice(), b"", b"header")?;
    let mac = Hmac::<Sha256>::new_from_slice(key.as_slice()).map_err(|_| AgeError::Header)?;
    Ok(mac.chain_update(text.as_bytes()))
}

/// Reads lines and keeps their text.
struct Lines<R> {
    from: R,
    text: String,
}

impl<R: BufRead> Lines<R> {
    /// Returns the next line without its line break.
    fn next(&mut self) -> Result<String, AgeError> {
        let mut line = Vec::new();
        self.from.read_until(b'\n', &mut line)?;
        let line = String::from_utf8(line).map_err(|_| AgeError::Header)?;
        self.text.push_str(&line);
        match line.strip_suffix('\n') {
            Some(line) => Ok(line.to_owned()),
            None => Err(AgeError::Header),
        }
    }
}
