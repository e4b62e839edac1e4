//! The messages of the agent protocol (draft-ietf-sshm-ssh-agent, section 3) that this agent supports,
//! without their length prefix.

use anyhow::{Context, Result};

/// The longest message, as in OpenSSH.
pub const MAX_BYTES: usize = 256 * 1024;

const FAILURE: u8 = 5;
const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_ANSWER: u8 = 12;
const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;

/// A key that the agent offers.
pub struct Key {
    /// Sent as the key's comment.
    pub name: String,
    /// The public key in SSH's binary format.
    pub blob: Vec<u8>,
}

/// A client's request.
#[derive(Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// List all keys.
    Identities,
    /// Sign data.
    Sign {
        /// The public key in SSH's binary format.
        key: &'a [u8],
        data: &'a [u8],
        /// Selects the signature algorithm of an RSA key.
        flags: u32,
    },
    /// Any unsupported request.
    Other,
}

/// Parses a message without its length prefix.
pub fn parse(message: &[u8]) -> Result<Request<'_>> {
    let (kind, mut rest) = message.split_first().context("an empty message")?;
    match *kind {
        REQUEST_IDENTITIES => Ok(Request::Identities),
        SIGN_REQUEST => {
            let (key, data) = (string(&mut rest)?, string(&mut rest)?);
            let flags = number(&mut rest)?;
            Ok(Request::Sign { key, data, flags })
        }
        _ => Ok(Request::Other),
    }
}

fn number(rest: &mut &[u8]) -> Result<u32> {
    let (number, after) = rest.split_first_chunk().context("a truncated message")?;
    *rest = after;
    Ok(u32::from_be_bytes(*number))
}

fn string<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let length = usize::try_from(number(rest)?)?;
    let (string, after) = rest
        .split_at_checked(length)
        .context("a truncated message")?;
    *rest = after;
    Ok(string)
}

/// Returns the failure message.
pub fn failure() -> Vec<u8> {
    vec![FAILURE]
}

/// Returns the answer that lists the keys.
pub fn identities(keys: &[Key]) -> Vec<u8> {
    let mut message = vec![IDENTITIES_ANSWER];
    put_number(&mut message, keys.len());
    for key in keys {
        put_string(&mut message, &key.blob);
        put_string(&mut message, key.name.as_bytes());
    }
    message
}

/// Returns the answer with a signature in SSH's binary format.
pub fn signature(signature: &[u8]) -> Vec<u8> {
    let mut message = vec![SIGN_RESPONSE];
    put_string(&mut message, signature);
    message
}

fn put_string(message: &mut Vec<u8>, string: &[u8]) {
    put_number(message, string.len());
    message.extend_from_slice(string);
}

fn put_number(message: &mut Vec<u8>, number: usize) {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    message.extend_from_slice(&number.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_cut_ones_are_refused() {
        assert_eq!(parse(&[11]).unwrap(), Request::Identities);
        assert_eq!(parse(&[27, 0, 0]).unwrap(), Request::Other);
        assert!(parse(&[]).is_err());
        let sign = [13, 0, 0, 0, 1, b'k', 0, 0, 0, 2, b'd', b'd', 0, 0, 0, 4];
        let read = Request::Sign {
            key: b"k",
            data: b"dd",
            flags: 4,
        };
        assert_eq!(parse(&sign).unwrap(), read);
        for length in 1..sign.len() {
            assert!(parse(&sign[..length]).is_err(), "{length}");
        }
        assert!(parse(&[13, 0xff, 0xff, 0xff, 0xff, 0]).is_err());
    }

    #[test]
    fn answers_have_their_lengths() {
        let key = Key {
            name: "n".to_owned(),
            blob: b"bb".to_vec(),
        };
        let expected = [12, 0, 0, 0, 1, 0, 0, 0, 2, b'b', b'b', 0, 0, 0, 1, b'n'];
        assert_eq!(identities(&[key]), expected);
        assert_eq!(signature(b"s"), [14, 0, 0, 0, 1, b's']);
    }
}
