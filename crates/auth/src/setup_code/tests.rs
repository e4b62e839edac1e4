//! Tests of the parent module.

use super::*;
use gatehouse_domain::SeededRandom;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn wrong(row: SetupCodeRow, now: Timestamp, times: u32) -> SetupCodeRow {
    let random = SeededRandom::new(9);
    (0..times).fold(row, |row, _| {
        let (verdict, row) = judge(row, Some("x"), now, &random);
        assert_eq!(verdict, CodeVerdict::Wrong);
        row
    })
}

#[test]
fn the_tenth_wrong_try_replaces_the_code_at_once() {
    let random = SeededRandom::new(1);
    let first = first_code(at(0), &random);
    let nine = wrong(first.clone(), at(0), 9);
    assert_eq!(
        (nine.code.as_str(), nine.wrong_tries),
        (first.code.as_str(), 9)
    );
    let second = wrong(nine, at(0), 1);
    assert_ne!(second.code, first.code);
    assert_eq!((second.wrong_tries, second.codes_made), (0, 2));
    let (old, second) = judge(second, Some(&first.code), at(0), &random);
    assert_eq!(old, CodeVerdict::Wrong);
    let code = second.code.clone();
    assert_eq!(
        judge(second, Some(&code), at(0), &random).0,
        CodeVerdict::Right
    );
}

#[test]
fn the_next_replacement_takes_ten_minutes_and_after_five_codes_setup_is_closed() {
    let random = SeededRandom::new(1);
    let mut row = wrong(first_code(at(0), &random), at(0), 20);
    assert_eq!((row.codes_made, row.wrong_tries), (2, 10));
    let code = row.code.clone();
    let (verdict, same) = judge(row.clone(), Some(&code), at(599), &random);
    assert_eq!(
        verdict,
        CodeVerdict::Wait { ms: 1000 },
        "even the right one waits"
    );
    assert!(same == row, "a refused try is not counted");
    for (number, seconds) in [(3, 600), (4, 1200), (5, 1800)] {
        let (verdict, next) = judge(row, Some(&code), at(seconds), &random);
        assert_eq!(verdict, CodeVerdict::Wrong);
        assert_eq!((next.codes_made, next.wrong_tries), (number, 1));
        row = wrong(next, at(seconds), 9);
    }
    let last = row.code.clone();
    for seconds in [1800, 99_999] {
        let (verdict, _) = judge(row.clone(), Some(&last), at(seconds), &random);
        assert_eq!(verdict, CodeVerdict::Closed);
    }
}

#[test]
fn nothing_sent_is_refused_but_is_no_guess() {
    let random = SeededRandom::new(1);
    let row = first_code(at(0), &random);
    for given in [None, Some("")] {
        let (verdict, after) = judge(row.clone(), given, at(0), &random);
        assert_eq!(verdict, CodeVerdict::Wrong);
        assert!(after == row);
    }
    for given in ["00000", "0000000", " 000000", "٠٠٠٠٠٠"] {
        assert_eq!(
            judge(row.clone(), Some(given), at(0), &random)
                .1
                .wrong_tries,
            1
        );
    }
}

#[test]
fn a_code_is_six_digits() {
    let random = SeededRandom::new(3);
    for _ in 0..100 {
        let code = new_code(&random);
        assert!(
            code.len() == 6 && code.bytes().all(|b| b.is_ascii_digit()),
            "{code}"
        );
    }
}
