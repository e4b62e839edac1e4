//! Typed recovery keys: an accepted text is one key, and the key's display form parses to the same key.
#![no_main]

use gatehouse_vault::RecoveryKey;
use libfuzzer_sys::fuzz_target;
use secrecy::ExposeSecret;

fuzz_target!(|text: &str| {
    let Ok(key) = RecoveryKey::parse(text) else {
        return;
    };
    let shown = key.to_display();
    let again = RecoveryKey::parse(shown.expose_secret()).expect("what we show we read");
    assert!(again.matches_hash(&key.hash()));
    let letters = |text: &str| -> String {
        text.chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_uppercase()
    };
    assert_eq!(
        letters(text),
        letters(shown.expose_secret()),
        "two spellings of one key"
    );
});
