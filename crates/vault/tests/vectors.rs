//! `vectors.json` contains the data that another implementation needs to check that it reads the format correctly.
//! The data is generated here with a fixed seed and compared with the committed file. `UPDATE_VECTORS=1` rewrites
//! the file.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests; the exception in clippy.toml covers only tests"
)]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;
use gatehouse_domain::{Random, SeededRandom, Timestamp};
use gatehouse_vault::{
    Aad, RecoveryKey, VaultRecord, create, open_with_password, open_with_recovery_key,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors.json");
const COMMITTED: &str = include_str!("vectors.json");
const FORMAT_DOCUMENT: &str = include_str!("../../../docs/vault-format.md");
const SEED: u64 = 2026;
/// Contains composed and decomposed characters: the password must not be normalized.
const PASSWORD: &str = "pa\u{df}w\u{f6}rd \u{1f511} Zu\u{308}rich";

fn record_as_json(record: &VaultRecord) -> Value {
    json!({
        "version": record.version,
        "kdf_salt": record.kdf_salt,
        "kdf_params": record.kdf_params,
        "wrapped_dek": record.wrapped_dek,
        "recovery_wrapped_dek": record.recovery_wrapped_dek,
        "recovery_key_hash": record.recovery_key_hash,
        "dek_id": record.dek_id,
        "dek_commitment": record.dek_commitment,
        "hold_public_key": record.hold_public_key,
        "hold_private_key": record.hold_private_key,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    })
}

/// Derives a wrapping key with Argon2 directly, not through the code under test.
fn argon2id(secret: &[u8], salt: &[u8], m_cost: u32, t_cost: u32) -> String {
    let params = argon2::Params::new(m_cost, t_cost, 1, Some(32)).unwrap();
    let mut key = [0; 32];
    argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params)
        .hash_password_into(secret, salt, &mut key)
        .unwrap();
    HEXLOWER.encode(&key)
}

/// Returns the plaintexts: one for each kind of context, plus edge cases.
fn contexts() -> Vec<(Aad, String)> {
    let pem =
        "-----BEGIN OPENSSH PRIVATE KEY-----\nbm90IGEga2V5\n-----END OPENSSH PRIVATE KEY-----\n";
    let webhook = r#"{"webhook":"wh_example","value":"s3cret"}"#;
    let providers = r#"{"openai":{"api_key":"example"}}"#;
    [
        (Aad::env("API_TOKEN"), "a value"),
        (Aad::env("EMPTY"), ""),
        (Aad::env("UNICODE"), "gr\u{fc}\u{df}e \u{2713}\nsecond line"),
        (Aad::ssh_key("deploy key@host-1"), pem),
        (Aad::channel("telegram", "main", "bot_token"), "123:abc"),
        (Aad::webhook_config("secret"), webhook),
        (Aad::webhook_config("previous_secret"), webhook),
        (Aad::ProviderKeys, providers),
    ]
    .map(|(aad, plaintext)| (aad, plaintext.to_owned()))
    .into()
}

#[test]
fn the_committed_vectors_are_what_this_code_makes() {
    let random = SeededRandom::new(SEED);
    // The data key is the first value drawn from the seed.
    let dek_bytes = (&SeededRandom::new(SEED) as &dyn Random).bytes::<32>();
    let password = SecretString::from(PASSWORD);
    let now = Timestamp::from_millis(1_795_000_000_123);
    let (record, dek, key) = create(&password, &random, now).unwrap();
    let ciphertexts: Vec<Value> = contexts()
        .iter()
        .map(|(aad, plaintext)| {
            let ciphertext = dek.encrypt(&random, aad, plaintext.as_bytes()).unwrap();
            json!({ "aad": aad.to_string(), "plaintext": plaintext, "ciphertext": ciphertext })
        })
        .collect();
    let held = Aad::held("del_example");
    let hold_key = record.hold_public_key().unwrap();
    let sealed = hold_key.encrypt(&random, &held, b"a delivery").unwrap();
    let letters = key.to_display().expose_secret().replace('-', "");
    let made = json!({
        "password": PASSWORD,
        "recovery_key": key.to_display().expose_secret(),
        "kek_hex": argon2id(PASSWORD.as_bytes(), &STANDARD.decode(&record.kdf_salt).unwrap(), 65_536, 3),
        "recovery_kek_hex": argon2id(letters.as_bytes(), b"gatehouse/vault/recovery/v1", 16_384, 2),
        "dek_hex": HEXLOWER.encode(&dek_bytes),
        "record": record_as_json(&record),
        "ciphertexts": ciphertexts,
        "held": { "aad": held.to_string(), "plaintext": "a delivery", "ciphertext": sealed },
    });
    update_if_asked(&made);
    let committed: Value = serde_json::from_str(COMMITTED).unwrap();
    assert_eq!(
        made, committed,
        "the format changed; UPDATE_VECTORS=1 writes the new vectors"
    );

    for opened in [
        open_with_password(&record, &password),
        open_with_recovery_key(&record, &key),
    ] {
        let opened = opened.unwrap();
        for ((aad, plaintext), vector) in contexts().iter().zip(&ciphertexts) {
            let text = vector["ciphertext"].as_str().unwrap();
            assert_eq!(*opened.decrypt(aad, text).unwrap(), plaintext.as_bytes());
        }
        let hold_key = record.hold_private_key(&opened).unwrap().unwrap();
        assert_eq!(*hold_key.decrypt(&held, &sealed).unwrap(), b"a delivery");
    }
}

#[test]
fn the_format_document_shows_these_vectors() {
    let vectors: Value = serde_json::from_str(COMMITTED).unwrap();
    let record = vectors["record"].as_object().unwrap();
    let mut shown: Vec<&str> = record.values().filter_map(Value::as_str).collect();
    for field in [
        "password",
        "kek_hex",
        "dek_hex",
        "recovery_key",
        "recovery_kek_hex",
    ] {
        shown.push(vectors[field].as_str().unwrap());
    }
    shown.push(vectors["ciphertexts"][0]["ciphertext"].as_str().unwrap());
    shown.push(vectors["held"]["ciphertext"].as_str().unwrap());
    for value in shown {
        assert!(
            FORMAT_DOCUMENT.contains(value),
            "docs/vault-format.md lacks {value}"
        );
    }
    // Every recovery key in the document is valid: three examples and the one from the vectors.
    let examples: Vec<&str> = FORMAT_DOCUMENT
        .split('`')
        .filter(|text| text.len() == 39 && text.contains('-'))
        .collect();
    assert_eq!(examples.len(), 4);
    for example in examples {
        let key = RecoveryKey::parse(example).unwrap().to_display();
        assert_eq!(key.expose_secret(), example);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test that rewrites its own golden file"
)]
fn update_if_asked(made: &Value) {
    if std::env::var_os("UPDATE_VECTORS").is_some_and(|v| v == "1") {
        std::fs::write(PATH, serde_json::to_string_pretty(made).unwrap() + "\n").unwrap();
        panic!("vectors.json written; run again without UPDATE_VECTORS");
    }
}
