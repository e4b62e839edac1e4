//! Tests of the parent module.

use super::*;
use gatehouse_domain::SeededRandom;
use proptest::prelude::*;
use secrecy::ExposeSecret;

fn key(bytes: [u8; 16]) -> RecoveryKey {
    RecoveryKey(Box::new(Zeroizing::new(bytes)))
}

fn shown(bytes: [u8; 16]) -> String {
    key(bytes).to_display().expose_secret().to_owned()
}

#[test]
fn golden_texts() {
    let counting = std::array::from_fn(|i| u8::try_from(i).unwrap());
    for (bytes, text) in [
        ([0; 16], "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAZM-NEXS"),
        ([255; 16], "9999-9999-9999-9999-9999-9999-96XP-TE4G"),
        (counting, "AAAS-EA2E-AWDA-QCAK-BJFS-2DJQ-B6EB-VYDQ"),
    ] {
        assert_eq!(shown(bytes), text);
        assert_eq!(**RecoveryKey::parse(text).unwrap().0, bytes);
    }
    assert_eq!(
        key([0; 16]).hash(),
        "H5FZviLAkEVxFiTsFJAdKbsEHVJtmCZGZpKaLLd0F3M="
    );
}

#[test]
fn a_generated_key_is_eight_groups_of_four_and_not_in_debug() {
    let key = RecoveryKey::generate(&SeededRandom::new(5));
    let text = key.to_display();
    assert_eq!(text.expose_secret().len(), 39);
    assert!(
        text.expose_secret()
            .split('-')
            .all(|group| group.len() == 4)
    );
    assert_eq!(
        format!("{key:?} {text:?}"),
        "RecoveryKey(..) SecretBox<str>([REDACTED])"
    );
}

#[test]
fn each_refusal_has_its_reason() {
    let good = shown([9; 16]);
    // Sets a padding bit in the 26th letter, which follows 25 letters and 6 hyphens.
    let mut padded: Vec<u8> = good.bytes().filter(|b| *b != b'-').collect();
    padded[25] = letter_of(u128::from(value_of(char::from(padded[25])).unwrap()) | 1);
    for (text, reason) in [
        ("", InvalidRecoveryKey::Length),
        (" - \n", InvalidRecoveryKey::Length),
        (&good[..38], InvalidRecoveryKey::Length),
        (&format!("{good}A"), InvalidRecoveryKey::Length),
        (
            &good.replacen(&good[..1], "0", 1),
            InvalidRecoveryKey::Character,
        ),
        (
            &good.replacen(&good[..1], "I", 1),
            InvalidRecoveryKey::Character,
        ),
        (
            &good.replacen(&good[..1], "é", 1),
            InvalidRecoveryKey::Character,
        ),
        (
            std::str::from_utf8(&padded).unwrap(),
            InvalidRecoveryKey::Checksum,
        ),
    ] {
        assert_eq!(RecoveryKey::parse(text).unwrap_err(), reason, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_an_answer_not_a_panic(text in ".*") {
        let _ = RecoveryKey::parse(&text);
    }

    #[test]
    fn anything_made_of_letters_is_an_answer_too(text in "[A-HJ-NP-Z2-9 -]{30,45}") {
        // A random text is a valid key with a probability of 2^-32, so none is expected here.
        prop_assert!(RecoveryKey::parse(&text).is_err());
    }

    #[test]
    fn spelling_does_not_matter(bytes: [u8; 16], choices in prop::collection::vec(0..6u8, 39)) {
        let mut typed = String::new();
        for (letter, choice) in shown(bytes).chars().zip(choices) {
            typed.push(if choice & 1 == 0 { letter } else { letter.to_ascii_lowercase() });
            typed.push_str([" ", "-", "", "\u{2011}", "\n\t", "\u{a0}"][usize::from(choice)]);
        }
        let parsed = RecoveryKey::parse(&typed).unwrap();
        prop_assert_eq!(**parsed.0, bytes);
        prop_assert!(parsed.hash() == key(bytes).hash());
    }

    /// The check does not detect one typo in 2^30.
    #[test]
    fn a_typo_is_noticed(bytes: [u8; 16], place in 0..32usize, change in 1..32u8) {
        let mut typed: Vec<u8> = shown(bytes).bytes().filter(|b| *b != b'-').collect();
        let value = value_of(char::from(typed[place])).unwrap();
        typed[place] = letter_of(u128::from(value ^ change));
        let refusal = RecoveryKey::parse(std::str::from_utf8(&typed).unwrap());
        prop_assert_eq!(refusal.unwrap_err(), InvalidRecoveryKey::Checksum);
    }

    #[test]
    fn another_key_has_another_hash(one: [u8; 16], other: [u8; 16]) {
        prop_assume!(one != other);
        prop_assert!(key(one).hash() != key(other).hash());
    }
}
