//! Tests of the parent module.

use super::*;
use gatehouse_domain::SeededRandom;

#[test]
fn progress_says_what_is_done_and_ends_with_the_walk() {
    let random = SeededRandom::new(1);
    let (sender, mut receiver) = watch::channel(None);
    let walk = Walk {
        random: &random,
        now: Timestamp::from_millis(1),
        progress: &sender,
    };
    let reported = ClearProgress(&sender);
    let dek = Arc::new(Dek::generate(&random));
    walk.publish(&Turn::Decrypt(dek), 250, 600);
    let expected = Progress {
        operation: "disable",
        done: 250,
        total: 600,
    };
    assert_eq!(*receiver.borrow_and_update(), Some(expected));
    drop(reported);
    assert_eq!(*receiver.borrow_and_update(), None);
}

#[test]
fn each_turn_takes_the_rows_that_are_its_own() {
    let random = SeededRandom::new(2);
    let (old, new) = (
        Arc::new(Dek::generate(&random)),
        Arc::new(Dek::generate(&random)),
    );
    let aad = aad_of(SecretTable::SshKeys, "k");
    let row = |value: String, encrypted| ProtectedRow {
        id: "k".to_owned(),
        value,
        encrypted,
    };
    let plain = row("secret".to_owned(), false);
    let sealed = row(old.encrypt(&random, &aad, b"secret").unwrap(), true);
    let turn = |turn: &Turn, row: &ProtectedRow| turn.turn(&random, &aad, row);
    let opens = |dek: &Dek, text: &str| *dek.decrypt(&aad, text).unwrap() == *b"secret";

    let encrypt = Turn::Encrypt(Arc::clone(&old));
    let (text, encrypted) = turn(&encrypt, &plain).unwrap().unwrap();
    assert!(encrypted && opens(&old, &text));
    assert!(turn(&encrypt, &sealed).unwrap().is_none());

    let decrypt = Turn::Decrypt(Arc::clone(&old));
    let (text, encrypted) = turn(&decrypt, &sealed).unwrap().unwrap();
    assert_eq!((text.as_str(), encrypted), ("secret", false));
    assert!(turn(&decrypt, &plain).unwrap().is_none());

    let rekey = Turn::Rekey {
        old: Arc::clone(&old),
        new: Arc::clone(&new),
    };
    for row in [&plain, &sealed] {
        let (text, encrypted) = turn(&rekey, row).unwrap().unwrap();
        assert!(encrypted && opens(&new, &text));
    }
    let wrong = Turn::Decrypt(new);
    let refused = turn(&wrong, &sealed);
    assert!(matches!(refused, Err(VaultError::Undecryptable(what)) if what == "ssh-key:k"));
}
