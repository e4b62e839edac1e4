//! The transition table of the keyring.

use super::*;
use gatehouse_domain::SeededRandom;
use proptest::prelude::*;

fn dek() -> Arc<Dek> {
    Arc::new(Dek::generate(&SeededRandom::new(1)))
}

/// Returns a keyring in each state: uninitialized, sealed, unsealed, disabled (with and without a record), and
/// sealed because the record is lost.
fn states() -> [(&'static str, Keyring); 6] {
    let mut unsealed = Keyring::start(RecordState::Present, false);
    unsealed.unsealed(dek()).unwrap();
    [
        ("uninitialized", Keyring::start(RecordState::Absent, false)),
        ("sealed", Keyring::start(RecordState::Present, false)),
        ("unsealed", unsealed),
        ("disabled", Keyring::start(RecordState::Present, true)),
        (
            "disabled, no record",
            Keyring::start(RecordState::Absent, true),
        ),
        ("lost", Keyring::start(RecordState::Lost, false)),
    ]
}

type Outcome = Result<Status, TransitionError>;
type Row = (&'static str, fn(&mut Keyring) -> Outcome, [Outcome; 6]);

/// Returns the full table: each transition from each state, in the order of [`states`].
#[rustfmt::skip]
fn table() -> [Row; 7] {
    use Status::{Disabled as Off, Sealed, Uninitialized, Unsealed};
    use TransitionError::{AlreadyInitialized as Already, Disabled};
    use TransitionError::{NotInitialized as NoVault, RecordLost as Lost};
    [
        ("initialized", |k| k.initialized(dek()),
            [Ok(Unsealed), Err(Already), Err(Already), Err(Disabled), Err(Disabled), Err(Lost)]),
        ("unsealed", |k| k.unsealed(dek()),
            [Err(NoVault), Ok(Unsealed), Ok(Unsealed), Err(Disabled), Err(Disabled), Err(Lost)]),
        ("rotated", |k| k.rotated(dek()),
            [Err(NoVault), Ok(Unsealed), Ok(Unsealed), Err(Disabled), Err(Disabled), Err(Lost)]),
        ("sealed", Keyring::sealed,
            [Err(NoVault), Ok(Sealed), Ok(Sealed), Err(Disabled), Err(Disabled), Err(Lost)]),
        ("disabled", Keyring::disabled,
            [Ok(Off), Ok(Off), Ok(Off), Ok(Off), Ok(Off), Err(Lost)]),
        ("enabled with a key", |k| k.enabled(Some(dek())),
            [Ok(Unsealed), Ok(Unsealed), Ok(Unsealed), Ok(Unsealed), Ok(Unsealed), Err(Lost)]),
        ("enabled without a key", |k| k.enabled(None),
            [Ok(Uninitialized), Ok(Sealed), Ok(Unsealed), Ok(Sealed), Ok(Uninitialized), Ok(Sealed)]),
    ]
}

#[test]
fn every_step_from_every_state() {
    for (step, apply, outcomes) in table() {
        for ((state, mut keyring), expected) in states().into_iter().zip(outcomes) {
            let before = keyring.status();
            let outcome = apply(&mut keyring);
            assert_eq!(outcome, expected, "{step} from {state}");
            assert_eq!(
                keyring.status(),
                outcome.unwrap_or(before),
                "{step} from {state}"
            );
            assert_eq!(
                keyring.dek().is_some(),
                keyring.status() == Status::Unsealed
            );
        }
    }
}

#[test]
fn another_node_s_changes_are_followed() {
    let [_, _, (_, unsealed), ..] = states();
    let id = unsealed.dek_id().unwrap().as_str().to_owned();
    let seen = |record, disabled, id| unsealed.clone().observed(record, disabled, id);
    assert_eq!(
        seen(RecordState::Present, false, Some(&id)),
        Status::Unsealed
    );
    assert_eq!(
        seen(RecordState::Present, false, Some("dek_other")),
        Status::Sealed
    );
    assert_eq!(
        seen(RecordState::Present, true, Some(&id)),
        Status::Disabled
    );
    assert_eq!(seen(RecordState::Lost, false, None), Status::Sealed);
    assert_eq!(
        seen(RecordState::Absent, false, None),
        Status::Uninitialized
    );
}

#[test]
fn status_is_its_lower_case_name() {
    for status in [
        Status::Uninitialized,
        Status::Sealed,
        Status::Unsealed,
        Status::Disabled,
    ] {
        let json = serde_json::to_string(&status).unwrap();
        assert_eq!(json, format!("\"{status}\""));
        assert_eq!(serde_json::from_str::<Status>(&json).unwrap(), status);
    }
    assert_eq!(Status::Unsealed.as_str(), "unsealed");
}

proptest! {
    /// Checks for any order of transitions: the key is in memory exactly while the status is unsealed, and an
    /// initialization never overwrites a lost record.
    #[test]
    fn the_key_is_there_exactly_while_unsealed(
        start in 0..6usize, steps in prop::collection::vec(0..7u8, 0..20),
    ) {
        let (name, mut keyring) = states()[start].clone();
        for step in steps {
            let _ = match step {
                0 => keyring.initialized(dek()),
                1 => keyring.unsealed(dek()),
                2 => keyring.rotated(dek()),
                3 => keyring.sealed(),
                4 => keyring.disabled(),
                5 => keyring.enabled(Some(dek())),
                _ => keyring.enabled(None),
            };
            prop_assert_eq!(keyring.dek().is_some(), keyring.status() == Status::Unsealed);
            if name == "lost" {
                prop_assert_eq!(keyring.status(), Status::Sealed);
            }
        }
    }
}
