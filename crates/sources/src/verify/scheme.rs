//! The data types of signature schemes. If a header has a neutral and a vendor name, the neutral name comes first
//! and takes precedence.

/// Maximum difference between the sender's timestamp and our clock, in seconds, in either direction.
pub const TOLERANCE_SECONDS: i64 = 300;

/// The verification method of a mode.
#[derive(Clone, Copy)]
pub(crate) enum Method {
    Open,
    /// The secret itself, in a header that the owner configures.
    OwnHeader,
    /// The secret itself, in one of these headers.
    Token(&'static [&'static str]),
    /// The secret itself, in `Authorization`.
    Bearer,
    Signature(&'static Scheme),
}

/// A vendor's signature scheme.
pub(crate) struct Scheme {
    /// Headers that contain the signatures.
    pub headers: &'static [&'static str],
    pub algorithm: Algorithm,
    pub encoding: Encoding,
    /// Prefixes that a signature can have.
    pub prefixes: &'static [&'static str],
    /// Whether a signature without a prefix is accepted.
    pub bare: bool,
    /// The prefix that the vendor sends.
    pub sends: &'static str,
    /// Separator of the items in a header. `None` if the header is a single item.
    pub separator: Option<char>,
    pub key: Key,
    /// The signed parts, concatenated.
    pub signed: &'static [Part],
    /// Headers that contain the delivery ID, if the ID is signed.
    pub id_headers: &'static [&'static str],
    pub time: Time,
    /// The format of a timestamp in a header.
    pub time_format: TimeFormat,
    /// Maximum difference between a timestamp in a header and our clock, in seconds, in either direction.
    pub tolerance: i64,
}

impl Scheme {
    pub(crate) fn signs_url(&self) -> bool {
        let is_url = |part: &Part| matches!(part, Part::Url | Part::UrlAndForm);
        self.signed.iter().any(is_url)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Sha256,
    Sha1,
    Sha512,
    /// A signature with the sender's private key. The webhook's secret is the public key.
    Ed25519,
}

impl Algorithm {
    /// Returns the length of a signature in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha1 => 20,
            Self::Sha512 | Self::Ed25519 => 64,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Hex digits in upper or lower case.
    Hex,
    Base64,
}

/// The derivation of the key from the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// The bytes of the secret.
    Text,
    /// The secret, Base64-decoded, with or without the prefix `whsec_`.
    Whsec,
    /// The secret, decoded from hex.
    Hex,
}

/// A part of the signed content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(&'static str),
    Id,
    /// The timestamp as the sender wrote it.
    Timestamp,
    Body,
    /// The URL that the sender called.
    Url,
    /// The URL, followed by the form's names and values, sorted by name.
    UrlAndForm,
}

/// The location of the timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    Unsigned,
    /// In the signature header, after this prefix.
    Item(&'static str),
    /// In one of these headers.
    Headers(&'static [&'static str]),
    /// A field of the body with milliseconds, if present. A setting specifies the tolerance.
    Body(&'static str),
}

/// The format of a timestamp in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeFormat {
    /// Unix time in seconds.
    Seconds,
    /// Unix time in milliseconds.
    Milliseconds,
    Rfc3339,
}

/// The HMAC-SHA256 of the body in hex. Most schemes are based on it.
pub(crate) const BODY: Scheme = Scheme {
    headers: &[],
    algorithm: Algorithm::Sha256,
    encoding: Encoding::Hex,
    prefixes: &["sha256=", "v1="],
    bare: true,
    sends: "",
    separator: Some(','),
    key: Key::Text,
    signed: &[Part::Body],
    id_headers: &[],
    time: Time::Unsigned,
    time_format: TimeFormat::Seconds,
    tolerance: TOLERANCE_SECONDS,
};
