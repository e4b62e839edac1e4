//! How the authority of the tests reads a request (RFC 8555, section 6; RFC 7515): strictly.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// A public key of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AccountKey {
    point: Vec<u8>,
    /// RFC 7638.
    pub(super) thumbprint: String,
}

/// Who signed.
#[derive(Debug)]
pub(super) enum Signer {
    New(AccountKey),
    Known(String),
}

/// A request whose signature has not been verified yet.
pub(super) struct Signed {
    pub(super) signer: Signer,
    pub(super) nonce: String,
    pub(super) url: String,
    /// Empty for POST-as-GET.
    pub(super) payload: Vec<u8>,
    text: String,
    signature: Vec<u8>,
}

fn decode(value: &Value) -> Result<Vec<u8>, String> {
    let text = value.as_str().ok_or("a field is not a string")?;
    BASE64URL_NOPAD
        .decode(text.as_bytes())
        .map_err(|error| format!("not base64url: {error}"))
}

fn only(object: &Map<String, Value>, names: &[&str]) -> Result<(), String> {
    let mut found: Vec<&str> = object.keys().map(String::as_str).collect();
    found.sort_unstable();
    if found == names {
        Ok(())
    } else {
        Err(format!("fields {found:?} instead of {names:?}"))
    }
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

impl AccountKey {
    fn read(jwk: &Value) -> Result<Self, String> {
        let jwk = jwk.as_object().ok_or("the jwk is not an object")?;
        // `alg` and `use` may be there (RFC 7517, section 4).
        only(jwk, &["alg", "crv", "kty", "use", "x", "y"])?;
        if jwk["alg"] != "ES256" || jwk["use"] != "sig" {
            return Err("the key is for something else".to_owned());
        }
        if jwk["kty"] != "EC" || jwk["crv"] != "P-256" {
            return Err("the key is not on P-256".to_owned());
        }
        let (x, y) = (decode(&jwk["x"])?, decode(&jwk["y"])?);
        if x.len() != 32 || y.len() != 32 {
            return Err("the coordinates have a wrong length".to_owned());
        }
        let canonical = format!(
            r#"{{"crv":"P-256","kty":"EC","x":"{}","y":"{}"}}"#,
            BASE64URL_NOPAD.encode(&x),
            BASE64URL_NOPAD.encode(&y)
        );
        let mut point = vec![4];
        point.extend(x);
        point.extend(y);
        Ok(Self {
            point,
            thumbprint: BASE64URL_NOPAD.encode(&Sha256::digest(canonical.as_bytes())),
        })
    }
}

impl Signed {
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        let outer = object(body)?;
        only(&outer, &["payload", "protected", "signature"])?;
        let header = object(&decode(&outer["protected"])?)?;
        let signer = match (header.get("jwk"), header.get("kid")) {
            (Some(jwk), None) => Signer::New(AccountKey::read(jwk)?),
            (None, Some(kid)) => Signer::Known(kid.as_str().ok_or("kid")?.to_owned()),
            _ => return Err("either jwk or kid is required".to_owned()),
        };
        let who = if matches!(signer, Signer::New(_)) {
            "jwk"
        } else {
            "kid"
        };
        only(&header, &["alg", who, "nonce", "url"])?;
        if header["alg"] != "ES256" {
            return Err("the algorithm is not ES256".to_owned());
        }
        let text = |value: &Value| value.as_str().map(str::to_owned).ok_or("not a string");
        Ok(Self {
            signer,
            nonce: text(&header["nonce"])?,
            url: text(&header["url"])?,
            payload: decode(&outer["payload"])?,
            text: format!(
                "{}.{}",
                text(&outer["protected"])?,
                text(&outer["payload"])?
            ),
            signature: decode(&outer["signature"])?,
        })
    }

    pub(super) fn is_signed_by(&self, key: &AccountKey) -> bool {
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &key.point)
            .verify(self.text.as_bytes(), &self.signature)
            .is_ok()
    }
}
