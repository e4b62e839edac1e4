//! The order of the deliveries of a session.

use crate::crash::recorder::Arrival;
use std::collections::{BTreeSet, HashMap};

/// Counts the deliveries that arrived after a later delivery of their session. Prints all arrivals of these
/// sessions. A mark is `<session>-<number>`.
pub fn count_out_of_order(arrivals: &[Arrival]) -> usize {
    let mut latest: HashMap<&str, usize> = HashMap::new();
    let mut sessions = BTreeSet::new();
    let mut wrong = 0;
    for (session, number, _) in arrivals.iter().filter_map(parse) {
        let last = latest.entry(session).or_insert(number);
        if number < *last {
            eprintln!("  out of order: {session}-{number} after {last}");
            sessions.insert(session);
            wrong += 1;
        }
        *last = number.max(*last);
    }
    for (session, number, arrival) in arrivals.iter().filter_map(parse) {
        if sessions.contains(session) {
            eprintln!("    {session}: {number} at {}", arrival.at);
        }
    }
    wrong
}

fn parse(arrival: &Arrival) -> Option<(&str, usize, &Arrival)> {
    let (session, number) = arrival.mark.rsplit_once('-')?;
    Some((session, number.parse().ok()?, arrival))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::Timestamp;

    #[test]
    fn repeats_are_in_order_and_earlier_ones_are_not() {
        let count = |marks: &[&str]| {
            let arrivals = marks.iter().map(|mark| Arrival {
                mark: (*mark).to_owned(),
                at: Timestamp::default(),
            });
            count_out_of_order(&arrivals.collect::<Vec<_>>())
        };
        assert_eq!(count(&["a-1", "b-5", "a-2", "a-2", "b-6"]), 0);
        assert_eq!(count(&["a-1", "a-3", "a-2"]), 1);
    }
}
