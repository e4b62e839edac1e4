//! Reports a restored backup.

use super::Outcome;
use crate::cli::{
    backup::manifest_record,
    output::{Output, line, note},
};
use anyhow::Result;
use gatehouse_backup::Manifest;
use serde_json::json;

/// The warning about a copy that is started while the original runs.
const RUNS_LIKE_THE_ORIGINAL: &str = "A server that is started on this data polls the same channel accounts, runs the \
    schedules and sends notifications. If the original still runs, do not start it with access to the network. \
    `gatehouse backup verify` checks a backup without a start.";

pub(super) fn report(
    out: &Output,
    target: &str,
    manifest: &Manifest,
    outcome: &Outcome,
) -> Result<()> {
    let mut record = manifest_record(manifest);
    if let Some(fields) = record.as_object_mut() {
        fields.insert("held".to_owned(), outcome.held.into());
        fields.insert("revoked".to_owned(), outcome.revoked.into());
        fields.insert("settings_beside".to_owned(), json!(outcome.settings_beside));
        fields.insert("profiles_beside".to_owned(), json!(outcome.profiles_beside));
    }
    out.record(&record, || {
        line(format!(
            "Restored {} rows into {target}.",
            manifest.rows()
        ));
        let valid = if outcome.is_revoked {
            "The password and passkeys are as they were then: later changes and removals are undone."
        } else {
            "The password, passkeys, API keys, devices, sessions, paired people and share links are as they were \
             then: later changes and removals are undone. --revoke-credentials deletes all but the password and \
             passkeys."
        };
        note(format!(
            "This is the state of {}. {valid} Deliveries received since then are unknown, so repeats of them are not \
             recognized.",
            manifest.created_at
        ));
        note("The vault opens with the password or the recovery key of that time.");
        note(RUNS_LIKE_THE_ORIGINAL);
        if outcome.held > 0 {
            note(format!(
                "{} deliveries are held. Release them with: gatehouse webhooks release",
                outcome.held
            ));
        }
        if outcome.is_revoked {
            note(format!(
                "{} sessions, API keys, devices, paired people, allowed calls, notifications of browsers and share \
                 links were deleted.",
                outcome.revoked
            ));
        }
        if let Some(path) = &outcome.settings_beside {
            note(format!(
                "The settings file of the backup is in {}. Compare it with yours.",
                path.display()
            ));
        }
        for path in &outcome.profiles_beside {
            note(format!(
                "A profile of the backup is in {}, because another profile has its name. Compare them.",
                path.display()
            ));
        }
    })
}
