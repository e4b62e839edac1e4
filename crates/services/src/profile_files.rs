//! The profiles in files as this process loaded them, and their check in `doctor`. This module does not read the
//! files: the binary reads them and reports the result each time.

use crate::Services;
use crate::doctor::check::{Check, Subject};
use std::sync::{Mutex, PoisonError};

const ID: &str = "profiles";
const HINT: &str = "Correct the file in the folder `profiles` of the data directory. It is read again when it changes. \
                    `gatehouse webhooks check-profile` reports the mistakes of a file.";

/// The result of loading the folder of profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileReport {
    /// The number of files whose profile is in use.
    pub used: usize,
    /// The mistakes as fragments, each with the name of its file in the data directory.
    pub problems: Vec<String>,
}

/// The last report.
#[derive(Debug, Default)]
pub struct ProfileFilesState(Mutex<ProfileReport>);

impl ProfileFilesState {
    pub fn set(&self, report: ProfileReport) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = report;
    }

    fn get(&self) -> ProfileReport {
        let report = self.0.lock();
        report.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Checks the files, and the webhooks that need them. Returns `None` if there are neither files nor such webhooks.
pub(crate) async fn check(services: &Services) -> Option<Check> {
    let report = services.profile_files.get();
    // The database is read only if there are such webhooks. If the read fails, the failure is still reported.
    let without = services.webhooks.without_profile().await.ok();
    let is_unused =
        report == ProfileReport::default() && without.as_ref().is_some_and(Vec::is_empty);
    (!is_unused).then(|| finding(&report, without.as_deref()))
}

/// Returns the check. `without` contains the IDs and names of the webhooks whose profile is missing; `None` if the
/// names could not be read.
fn finding(report: &ProfileReport, without: Option<&[(String, String)]>) -> Check {
    if report.problems.is_empty() && without.is_some_and(<[_]>::is_empty) {
        return Check::fine(ID, "Every profile file is in use.");
    }
    let mut sentences: Vec<String> = report
        .problems
        .iter()
        .map(|problem| format!("{problem}."))
        .collect();
    if without.is_none() {
        let unnamed = "Webhooks refuse deliveries because their profile is missing. Their names cannot be read.";
        sentences.push(unnamed.to_owned());
    }
    let without = without.unwrap_or_default();
    if !without.is_empty() {
        let names: Vec<&str> = without.iter().map(|(_, name)| name.as_str()).collect();
        sentences.push(format!(
            "Webhooks that refuse deliveries because their profile is missing: {}.",
            names.join(", ")
        ));
    }
    let subject = |(id, name): &(String, String)| Subject {
        id: id.clone(),
        name: name.clone(),
        message: format!("The webhook {name} refuses deliveries because its profile is missing."),
    };
    Check::bad(ID, sentences.join(" "), HINT).about(without.iter().map(subject).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_and_the_webhooks_without_their_profile_are_named() {
        let report = |problems: &[&str]| ProfileReport {
            used: 1,
            problems: problems.iter().map(|it| (*it).to_owned()).collect(),
        };
        assert!(finding(&report(&[]), Some(&[])).ok);
        let kept = finding(&report(&["profiles/a.toml:3: wrong"]), Some(&[]));
        assert!(!kept.ok && kept.subjects.is_empty());
        assert_eq!(kept.message, "profiles/a.toml:3: wrong.");
        let unread = finding(&report(&[]), None);
        assert!(!unread.ok && unread.subjects.is_empty());
        let webhook = ("wh_a".to_owned(), "Shop".to_owned());
        let missing = finding(&report(&[]), Some(&[webhook]));
        assert!(
            missing.message.ends_with("is missing: Shop."),
            "{missing:?}"
        );
        assert_eq!(missing.subjects[0].id, "wh_a");
    }
}
