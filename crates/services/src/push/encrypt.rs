//! Encrypts a notification for one browser: RFC 8291 with the content coding `aes128gcm` of RFC 8188. Does no I/O.

use aes_gcm::aead::Aead as _;
use aes_gcm::{Aes128Gcm, KeyInit as _};
use hkdf::Hkdf;
use p256::{PublicKey, SecretKey};
use sha2::Sha256;

/// The size of the only record. A push service must accept bodies of this size (RFC 8030, section 7.2).
const RECORD_BYTES: u32 = 4096;
/// The longest text: 4,096 bytes without the header of 86 bytes, the delimiter and the authentication tag.
pub const MAX_TEXT_BYTES: usize = 3_993;
/// Ends the text in the last record.
const DELIMITER: u8 = 2;
/// The bytes of an authentication secret.
const SECRET_BYTES: usize = 16;

/// The keys of a browser's subscription.
#[derive(Clone)]
pub struct BrowserKeys {
    public: PublicKey,
    secret: [u8; SECRET_BYTES],
}

impl BrowserKeys {
    /// Parses an uncompressed point of P-256 and a secret of 16 bytes.
    pub fn read(public: &[u8], secret: &[u8]) -> Option<Self> {
        let is_uncompressed = public.len() == 65;
        let public = PublicKey::from_sec1_bytes(public).ok()?;
        let secret = secret.try_into().ok()?;
        is_uncompressed.then_some(Self { public, secret })
    }
}

/// Values that must be random for each notification.
pub struct OneTime {
    pub key: SecretKey,
    pub salt: [u8; 16],
}

/// Returns the body of the request; `None` if the text is longer than [`MAX_TEXT_BYTES`].
pub fn encrypt(text: &[u8], browser: &BrowserKeys, once: &OneTime) -> Option<Vec<u8>> {
    if text.len() > MAX_TEXT_BYTES {
        return None;
    }
    let public = once.key.public_key().to_sec1_bytes();
    let shared = once.key.diffie_hellman(&browser.public);
    let mut ikm = [0; 32];
    let mut info = b"WebPush: info\0".to_vec();
    info.extend_from_slice(&browser.public.to_sec1_bytes());
    info.extend_from_slice(&public);
    derive(&browser.secret, shared.raw_secret_bytes(), &info, &mut ikm)?;
    let (mut key, mut nonce) = ([0; 16], [0; 12]);
    derive(&once.salt, &ikm, b"Content-Encoding: aes128gcm\0", &mut key)?;
    derive(&once.salt, &ikm, b"Content-Encoding: nonce\0", &mut nonce)?;

    let mut record = text.to_vec();
    record.push(DELIMITER);
    let cipher = Aes128Gcm::new(&key.into());
    let record = cipher.encrypt(&nonce.into(), record.as_slice()).ok()?;
    let mut body = once.salt.to_vec();
    body.extend_from_slice(&RECORD_BYTES.to_be_bytes());
    body.push(u8::try_from(public.len()).ok()?);
    body.extend_from_slice(&public);
    body.extend_from_slice(&record);
    Some(body)
}

fn derive(salt: &[u8], ikm: &[u8], info: &[u8], out: &mut [u8]) -> Option<()> {
    Hkdf::<Sha256>::new(Some(salt), ikm).expand(info, out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::BASE64URL_NOPAD;

    fn bytes(text: &str) -> Vec<u8> {
        BASE64URL_NOPAD.decode(text.as_bytes()).unwrap()
    }

    /// Returns the example of RFC 8291, appendix A.
    fn example() -> (BrowserKeys, OneTime) {
        let public = bytes(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        );
        let browser = BrowserKeys::read(&public, &bytes("BTBZMqHH6r4Tts7J_aSIgg")).unwrap();
        let key = bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
        let once = OneTime {
            key: SecretKey::from_slice(&key).unwrap(),
            salt: bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap(),
        };
        (browser, once)
    }

    #[test]
    fn the_example_of_rfc_8291_is_encrypted_as_published() {
        let (browser, once) = example();
        let body = encrypt(
            b"When I grow up, I want to be a watermelon",
            &browser,
            &once,
        );
        let published = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml\
                         mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT\
                         pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(body, Some(bytes(published)));
    }

    #[test]
    fn the_longest_text_fills_4096_bytes_and_a_longer_one_is_refused() {
        let (browser, once) = example();
        let body = encrypt(&vec![b'a'; MAX_TEXT_BYTES], &browser, &once);
        assert_eq!(body.map(|body| body.len()), Some(4096));
        let body = encrypt(&vec![b'a'; MAX_TEXT_BYTES + 1], &browser, &once);
        assert_eq!(body, None);
    }

    #[test]
    fn invalid_keys_are_refused() {
        let (browser, _) = example();
        let public = browser.public.to_sec1_bytes();
        assert!(BrowserKeys::read(&public, &[0; 16]).is_some());
        for secret in [15, 17] {
            assert!(BrowserKeys::read(&public, &vec![0; secret]).is_none());
        }
        assert!(BrowserKeys::read(&public[..64], &[0; 16]).is_none());
        let mut off_the_curve = public.to_vec();
        off_the_curve[64] ^= 1;
        assert!(BrowserKeys::read(&off_the_curve, &[0; 16]).is_none());
    }
}
