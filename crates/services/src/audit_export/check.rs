//! The check of `doctor`.

use super::Target;
use crate::Services;
use crate::doctor::check::{Check, Subject};

const ID: &str = "audit_export";

/// Reports whether this node can write the copies; `None` if no copy is turned on.
pub(crate) fn check(services: &Services) -> Option<Check> {
    let settings = &services.config.resolved().settings.audit;
    if settings.file.is_none() && settings.syslog.is_none() {
        return None;
    }
    let health = &services.audit_export.health;
    let failed: Vec<(Target, String)> = Target::ALL
        .into_iter()
        .filter_map(|target| Some((target, health.of(target)?)))
        .collect();
    if failed.is_empty() {
        return Some(Check::fine(ID, "The audit log is copied."));
    }
    let hints: Vec<&str> = failed.iter().map(|(target, _)| hint(*target)).collect();
    let subjects: Vec<Subject> = failed.iter().map(|(of, why)| subject(*of, why)).collect();
    let messages: Vec<&str> = subjects.iter().map(|it| it.message.as_str()).collect();
    let message = format!(
        "{} The records stay in the database and are copied as soon as possible.",
        messages.join(" ")
    );
    Some(Check::bad(ID, message, hints.join(" ")).about(subjects))
}

fn subject(target: Target, why: &str) -> Subject {
    let setting = target.setting();
    Subject {
        id: setting.to_owned(),
        name: setting.to_owned(),
        message: format!("The audit log cannot be copied to {setting}: {why}."),
    }
}

const fn hint(target: Target) -> &'static str {
    match target {
        Target::File => {
            "Check the path, its permissions and the free space. The file must be new, or end with an audit record."
        }
        Target::Syslog => {
            "Check that syslog or journald runs and reads from this socket, or that the syslog server can be reached and, for \
             tls://, has a certificate that this machine trusts."
        }
    }
}
