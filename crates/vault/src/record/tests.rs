//! Creating, opening, rewrapping and rotating a vault record.

use super::*;
use gatehouse_domain::{SeededRandom, Timestamp};
use secrecy::SecretString;

const CREATED: Timestamp = Timestamp::from_millis(1_000);
const LATER: Timestamp = Timestamp::from_millis(2_000);

fn password(text: &str) -> SecretString {
    SecretString::from(text)
}

#[test]
fn the_life_of_a_record() {
    let random = SeededRandom::new(11);
    let (first, dek, key) = create(&password("first password"), &random, CREATED).unwrap();
    assert_eq!(
        (first.created_at, first.updated_at, first.version),
        (1_000, 1_000, 1)
    );
    assert_eq!(first.recovery_key_hash, Some(key.hash()));
    let secret = dek.encrypt(&random, &Aad::env("A"), b"value").unwrap();
    let reads = |dek: &Dek| *dek.decrypt(&Aad::env("A"), &secret).unwrap() == b"value";

    assert!(reads(&open_with_recovery_key(&first, &key).unwrap()));
    let wrong = open_with_password(&first, &password("first passwore"));
    assert_eq!(wrong.unwrap_err(), OpenError::BadKey);

    let second =
        rewrap_password(&first, &dek, &password("second password"), &random, LATER).unwrap();
    assert_ne!(first.kdf_salt, second.kdf_salt);
    assert_eq!(first.recovery_wrapped_dek, second.recovery_wrapped_dek);
    assert_eq!(first.recovery_key_hash, second.recovery_key_hash);
    assert_eq!(first.dek_id, second.dek_id);
    assert_eq!((second.created_at, second.updated_at), (1_000, 2_000));
    assert!(reads(
        &open_with_password(&second, &password("second password")).unwrap()
    ));
    let old = open_with_password(&second, &password("first password"));
    assert_eq!(old.unwrap_err(), OpenError::BadKey);

    let (third, new_key) = new_recovery_key(&second, &dek, &random, LATER).unwrap();
    assert_eq!(third.recovery_key_hash, Some(new_key.hash()));
    assert_ne!(third.recovery_key_hash, first.recovery_key_hash);
    assert_eq!(third.wrapped_dek, second.wrapped_dek);
    assert!(reads(&open_with_recovery_key(&third, &new_key).unwrap()));
    assert_eq!(
        open_with_recovery_key(&third, &key).unwrap_err(),
        OpenError::BadKey
    );
}

#[test]
fn rotation_needs_the_password_and_leaves_nothing_of_the_old_keys() {
    let random = SeededRandom::new(12);
    let (old, old_dek, old_key) = create(&password("the password"), &random, CREATED).unwrap();
    let refused = rotate(&old, &password("another password"), &random, LATER);
    assert_eq!(refused.unwrap_err(), OpenError::BadKey);
    let (new, new_dek, new_key) = rotate(&old, &password("the password"), &random, LATER).unwrap();
    assert_eq!((new.created_at, new.updated_at), (1_000, 2_000));
    assert_ne!(new.dek_id, old.dek_id);
    assert_ne!(new_dek.expose(), old_dek.expose());
    assert_eq!(new.recovery_key_hash, Some(new_key.hash()));
    assert_ne!(new.recovery_key_hash, Some(old_key.hash()));
    // The key from before the rotation must not be stored in the new record.
    let stale = rewrap_password(&new, &old_dek, &password("x"), &random, LATER);
    assert_eq!(stale.unwrap_err(), OpenError::StaleDek);
    let stale = new_recovery_key(&new, &old_dek, &random, LATER);
    assert_eq!(stale.unwrap_err(), OpenError::StaleDek);
}

/// All cases except the last ones are refused before any derivation.
#[test]
fn a_damaged_weakened_or_foreign_record_does_not_open() {
    let random = SeededRandom::new(13);
    let (good, _, key) = create(&password("the password"), &random, CREATED).unwrap();
    let (other, ..) = create(&password("the password"), &random, CREATED).unwrap();
    let with = |change: &dyn Fn(&mut VaultRecord)| {
        let mut record = good.clone();
        change(&mut record);
        open_with_password(&record, &password("the password")).unwrap_err()
    };
    assert_eq!(with(&|r| r.version = 0), OpenError::UnsupportedVersion(0));
    assert_eq!(with(&|r| r.version = 2), OpenError::UnsupportedVersion(2));
    let weak = r#"{"m_cost":8,"t_cost":3,"p_cost":1}"#;
    let refused = KdfRefused::BelowSpecified {
        parameter: "m_cost",
        value: 8,
        least: 65_536,
    };
    assert_eq!(
        with(&|r| r.kdf_params = weak.to_owned()),
        OpenError::Refused(refused)
    );
    assert_eq!(
        with(&|r| r.kdf_params = "{}".to_owned()),
        OpenError::Damaged("kdf_params")
    );
    for salt in ["", "AAAA", "no base64", "AAAAAAAAAAAAAAAAAAAAAAA="] {
        assert_eq!(
            with(&|r| r.kdf_salt = salt.to_owned()),
            OpenError::Damaged("kdf_salt")
        );
    }
    assert_eq!(
        with(&|r| r.wrapped_dek.truncate(40)),
        OpenError::Damaged("wrapped_dek")
    );
    assert_eq!(with(&|r| r.dek_id.clear()), OpenError::Damaged("dek_id"));
    assert_eq!(
        with(&|r| r.dek_commitment.clear()),
        OpenError::Damaged("dek_commitment")
    );
    // The key unwraps correctly, but the commitment belongs to another key.
    assert_eq!(
        with(&|r| r.dek_commitment.clone_from(&other.dek_commitment)),
        OpenError::Damaged("dek_commitment belongs to another key")
    );
    // The two wrapped copies are not interchangeable.
    let swapped = VaultRecord {
        recovery_wrapped_dek: Some(good.wrapped_dek.clone()),
        ..good.clone()
    };
    assert_eq!(
        open_with_recovery_key(&swapped, &key).unwrap_err(),
        OpenError::BadKey
    );
    let none = VaultRecord {
        recovery_wrapped_dek: None,
        ..good.clone()
    };
    assert_eq!(
        open_with_recovery_key(&none, &key).unwrap_err(),
        OpenError::NoRecovery
    );
}

#[test]
fn a_recovery_key_opens_what_is_damaged_on_the_password_side() {
    let random = SeededRandom::new(14);
    let (good, _, key) = create(&password("the password"), &random, CREATED).unwrap();
    let damaged = VaultRecord {
        kdf_salt: String::new(),
        kdf_params: "{".to_owned(),
        wrapped_dek: String::new(),
        recovery_key_hash: None,
        ..good
    };
    let dek = open_with_recovery_key(&damaged, &key).unwrap();
    let repaired = rewrap_password(&damaged, &dek, &password("new"), &random, LATER).unwrap();
    assert!(open_with_password(&repaired, &password("new")).is_ok());
}

#[test]
fn each_error_has_a_code_and_a_message() {
    for (error, code) in [
        (OpenError::BadKey, ErrorCode::VaultBadKey),
        (OpenError::NoRecovery, ErrorCode::VaultBadKey),
        (OpenError::StaleDek, ErrorCode::Conflict),
        (OpenError::Damaged("kdf_salt"), ErrorCode::Internal),
        (OpenError::UnsupportedVersion(9), ErrorCode::Internal),
    ] {
        let problem = Problem::from(error);
        assert_eq!(problem.code, code);
        assert!(!problem.message.contains("kdf_salt"));
    }
}
