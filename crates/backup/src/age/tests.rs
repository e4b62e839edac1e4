use super::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatehouse_domain::SeededRandom;
use secrecy::SecretString;
use std::io::Read;

/// The file was created with pyrage 1.4.0, a wrapper of the Rust implementation by the authors of the format.
const SECRET_KEY: &str =
    "AGE-SECRET-KEY-1TUSH4UEG4MD784UARUPVC8S4FQ0VNVPRZHW39KC6A3KA3U6GT9NSKL2UXZ";
const PUBLIC_KEY: &str = "age1slgc7ysft3t0226a4zjmpjmlvwuc6la8hjmj86qhhtdnxfext3wqhpgu3d";
const MESSAGE: &[u8] = b"A file made by another implementation.\n";
/// The file has a second stanza of an unknown type.
const TO_PUBLIC_KEY: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBhWDBQV2RsR3BVZlZTTUViT3NIUWhKV3dzZVZUbUQrRjdxQWRhMmFySFJjCkJrd05KaFNrckdpZEdrOTJYZWYrVGdDb1UxWXBvRzhlRzhhdDdnQjkrOVEKLT4gQTIxN3hYRFUtZ3JlYXNlICQzIEh1JWVLCjAyeXI5MzlwY3JhZVdiYVVUdnY2ZEVENnFhcEw2Y0x3eGh6RW1BYmEvMlBESGpUOWpld1NIakVuc2VqcGQ1bDMKWURyS0lTb3hzZ1JSaDVOU0N0SnlpdXJ1Rm95UlNRCi0tLSBJbUZ1UlJ2dzVRZW1abmdpS3p3YjFMRC9mRmloRzZDVXI0NkdRVzN5ekx3CuSB3wPUZ5jLU/rIEEEGoXU9PhZN9p5ZmtjT685b2jWpWUG9n7fg8S9BCfY28HY7378htyVEKk/CQkdMjR6AtmgE7K6LwX++";
const PASSPHRASE: &str = "correct horse battery staple";
const TO_PASSPHRASE: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCA0a2FEVVZ3NFRvVlBQREV4SlU2d1RRIDE4CkZ2TUVSTmJuSVdwUVlCUWR1ZmVRK0toMSszeUpITVNwREFyV0tLUUxIOXcKLS0tIExPUy9ZSlRmclhtWENGU283MGwraFRnMEVJUXgwRkkrU3NnMFJhNEQwSDQK3odUt+3LYHeR1s9AkjLl1fF61fhH815Mtq0F38UfhM+LjpXsdo048Ht9TPWRLj1hXRyWLBrW2CPNvIWRSAue7iim3JxDHl4=";
const CHUNK: usize = 64 << 10;

fn read(file: &[u8], identity: &Identity) -> Result<Vec<u8>, AgeError> {
    let mut plain = Vec::new();
    decrypt(file, identity)?.read_to_end(&mut plain)?;
    Ok(plain)
}

fn write(plain: &[u8], recipient: &Recipient) -> Vec<u8> {
    let (key, random) = (file_key(1), SeededRandom::new(2));
    let mut out = encrypt(Vec::new(), recipient, &key, &random).unwrap();
    out.write_all(plain).unwrap();
    out.finish().unwrap()
}

fn file_key(seed: u64) -> FileKey {
    FileKey::generate(&SeededRandom::new(seed))
}

fn passphrase(text: &str) -> SecretString {
    SecretString::from(text)
}

#[test]
fn files_of_another_implementation_can_be_read() {
    let file = STANDARD.decode(TO_PUBLIC_KEY).unwrap();
    let identity = Identity::parse(&format!("# a comment\n\n{SECRET_KEY}\n")).unwrap();
    assert_eq!(read(&file, &identity).unwrap(), MESSAGE);
    let file = STANDARD.decode(TO_PASSPHRASE).unwrap();
    let identity = Identity::Passphrase(passphrase(PASSPHRASE));
    assert_eq!(read(&file, &identity).unwrap(), MESSAGE);
}

#[test]
fn what_is_encrypted_can_be_decrypted_at_every_size_around_a_chunk() {
    let recipient = Recipient::parse(PUBLIC_KEY).unwrap();
    let identity = Identity::parse(SECRET_KEY).unwrap();
    for size in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
        let plain: Vec<u8> = (0..=250).cycle().take(size).collect();
        let file = write(&plain, &recipient);
        assert!(is_encrypted(&file));
        assert_eq!(read(&file, &identity).unwrap(), plain, "{size}");
    }
}

/// Returns the key pair with this number.
fn pair(number: u8) -> (String, String) {
    use bech32::{Bech32, Hrp};
    let secret = [number; 32];
    let public = curve25519_dalek::MontgomeryPoint::mul_base_clamped(secret).to_bytes();
    let encode = |prefix: &str, bytes: &[u8]| {
        bech32::encode::<Bech32>(Hrp::parse(prefix).unwrap(), bytes).unwrap()
    };
    let secret = encode("age-secret-key-", &secret).to_uppercase();
    (encode("age", &public), secret)
}

#[test]
fn each_of_several_recipients_can_decrypt_and_nobody_else() {
    let (two, second) = pair(2);
    let recipient = Recipient::parse(&format!("{PUBLIC_KEY}, {two}")).unwrap();
    let file = write(b"for a team", &recipient);
    for key in [SECRET_KEY, &second] {
        let identity = Identity::parse(key).unwrap();
        assert_eq!(read(&file, &identity).unwrap(), b"for a team");
    }
    let other = Identity::parse(&pair(3).1).unwrap();
    assert!(matches!(read(&file, &other), Err(AgeError::WrongKey)));
    // The MAC of the header covers the stanzas of all recipients.
    let place = file.len() / 4;
    let mut changed = file;
    changed[place] ^= 1;
    assert!(read(&changed, &Identity::parse(SECRET_KEY).unwrap()).is_err());
}

#[test]
fn a_file_has_at_most_twenty_recipients() {
    let keys = |count: u8| (1..=count).map(|number| pair(number).0);
    let most = keys(20).collect::<Vec<_>>().join(" ");
    let file = write(b"text", &Recipient::parse(&most).unwrap());
    let last = Identity::parse(&pair(20).1).unwrap();
    assert_eq!(read(&file, &last).unwrap(), b"text");
    let more = keys(21).collect::<Vec<_>>().join(",");
    let error = Recipient::parse(&more).unwrap_err();
    assert!(matches!(error, AgeError::TooManyRecipients));
    assert_eq!(error.to_string(), "more than 20 age recipients");
}

#[test]
fn a_passphrase_opens_its_file_and_no_other_does() {
    let file = write(b"text", &Recipient::Passphrase(passphrase("one")));
    let right = Identity::Passphrase(passphrase("one"));
    assert_eq!(read(&file, &right).unwrap(), b"text");
    let wrong = Identity::Passphrase(passphrase("two"));
    assert!(matches!(read(&file, &wrong), Err(AgeError::WrongKey)));
    let key = Identity::parse(SECRET_KEY).unwrap();
    assert!(matches!(read(&file, &key), Err(AgeError::WrongKey)));
}

#[test]
fn the_key_of_a_file_opens_this_file_whatever_its_recipients_are_and_no_other() {
    let several = Recipient::parse(&format!("{PUBLIC_KEY} {}", pair(2).0)).unwrap();
    for recipient in [several, Recipient::Passphrase(passphrase("one"))] {
        let file = write(b"text", &recipient);
        let kept = FileKey::parse_hex(&file_key(1).to_hex()).unwrap();
        assert_eq!(read(&file, &Identity::FileKey(kept)).unwrap(), b"text");
        let other = Identity::FileKey(file_key(3));
        assert!(matches!(read(&file, &other), Err(AgeError::Header)));
        // Even with the right key, a file with a changed byte is refused.
        for place in 0..file.len() {
            let mut changed = file.clone();
            changed[place] ^= 1;
            let read = read(&changed, &Identity::FileKey(file_key(1)));
            assert!(read.is_err(), "byte {place} changed");
        }
    }
}

#[test]
fn the_key_of_a_file_has_sixteen_bytes_and_is_not_in_its_debug_text() {
    for (bytes, is_key) in [(15, false), (16, true), (17, false)] {
        let text = "0a".repeat(bytes);
        assert_eq!(FileKey::parse_hex(&text).is_ok(), is_key, "{bytes}");
    }
    assert!(FileKey::parse_hex("a secret").is_err());
    assert_eq!(format!("{:?}", file_key(1)), "FileKey { .. }");
}

#[test]
fn every_changed_or_missing_byte_is_noticed() {
    let recipient = Recipient::parse(PUBLIC_KEY).unwrap();
    let identity = Identity::parse(SECRET_KEY).unwrap();
    let file = write(b"a short text", &recipient);
    for place in 0..file.len() {
        let mut changed = file.clone();
        changed[place] ^= 1;
        assert!(read(&changed, &identity).is_err(), "byte {place} changed");
        assert!(read(&file[..place], &identity).is_err(), "cut at {place}");
    }
    let long = write(&vec![7; 2 * CHUNK], &recipient);
    let without_last = long.len() - CHUNK - 16;
    assert!(read(&long[..without_last], &identity).is_err());
    let mut longer = long;
    longer.push(0);
    assert!(read(&longer, &identity).is_err());
}

#[test]
fn a_work_factor_is_accepted_up_to_its_limit() {
    let header = |log_n: u8| {
        let salt = "A".repeat(22);
        let body = "A".repeat(43);
        format!("age-encryption.org/v1\n-> scrypt {salt} {log_n}\n{body}\n--- {body}\n")
    };
    let identity = Identity::Passphrase(passphrase("x"));
    let result = |log_n| read(header(log_n).as_bytes(), &identity);
    assert!(matches!(result(10), Err(AgeError::WrongKey)));
    assert!(matches!(result(21), Err(AgeError::TooMuchWork)));
}

#[test]
fn headers_that_the_format_forbids_are_refused() {
    let identity = Identity::parse(SECRET_KEY).unwrap();
    let (salt, body) = ("A".repeat(22), "A".repeat(43));
    // The share is the base point, because zero is refused by another check.
    let share = format!("CQ{}", "A".repeat(41));
    let with = |stanzas: &str| {
        let file = format!("age-encryption.org/v1\n{stanzas}--- {body}\n");
        read(file.as_bytes(), &identity)
    };
    let allowed = format!("-> X25519 {share}\n{body}\n-> other ~!\n\n");
    assert!(matches!(with(&allowed), Err(AgeError::WrongKey)));
    for stanzas in [
        format!("-> scrypt {salt} 10\n{body}\n-> X25519 {share}\n{body}\n"),
        format!("-> X25519  {share}\n{body}\n"),
        format!("-> X25519 {share} more\n{body}\n"),
        format!("-> X25519\n{body}\n"),
        // The shares have 31 and 33 bytes.
        format!("-> X25519 {share}\n{}\n", "A".repeat(42)),
        format!("-> X25519 {share}\n{}\n", "A".repeat(44)),
        format!("-> X25519 {body}\n{body}\n"),
        "-> \n\n".to_owned(),
        "-> \u{e9}\n\n".to_owned(),
        "-> a\tb\n\n".to_owned(),
        String::new(),
    ] {
        let read = with(&stanzas);
        assert!(matches!(read, Err(AgeError::Header)), "{stanzas}");
    }
    let passphrase = Identity::Passphrase(passphrase("x"));
    for log_n in ["010", "+10", "x", "10 more"] {
        let file = format!("age-encryption.org/v1\n-> scrypt {salt} {log_n}\n{body}\n--- {body}\n");
        let read = read(file.as_bytes(), &passphrase);
        assert!(matches!(read, Err(AgeError::Header)), "{log_n}");
    }
}

#[test]
fn keys_with_errors_are_refused() {
    for text in ["", "age1", SECRET_KEY, &PUBLIC_KEY.replace('q', "p")] {
        assert!(
            matches!(Recipient::parse(text), Err(AgeError::Recipient)),
            "{text}"
        );
    }
    for text in ["", "# only a comment", PUBLIC_KEY] {
        assert!(
            matches!(Identity::parse(text), Err(AgeError::Identity)),
            "{text}"
        );
    }
}
