//! The order of the deliveries of a session.

use std::collections::HashMap;

/// Counts the deliveries that arrived after a later one of their session. A mark is `<session>-<number>`.
pub fn count_out_of_order(arrivals: &[String]) -> usize {
    let mut latest: HashMap<&str, usize> = HashMap::new();
    let mut wrong = 0;
    for mark in arrivals {
        let Some((session, number)) = mark.rsplit_once('-') else {
            continue;
        };
        let Ok(number) = number.parse() else {
            continue;
        };
        let last = latest.entry(session).or_insert(number);
        if number < *last {
            eprintln!("  out of order: {mark} after {last}");
            wrong += 1;
        }
        *last = number.max(*last);
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_in_order_and_earlier_ones_are_not() {
        let count = |marks: &[&str]| {
            let marks: Vec<String> = marks.iter().map(|mark| (*mark).to_owned()).collect();
            count_out_of_order(&marks)
        };
        assert_eq!(count(&["a-1", "b-5", "a-2", "a-2", "b-6"]), 0);
        assert_eq!(count(&["a-1", "a-3", "a-2"]), 1);
    }
}
