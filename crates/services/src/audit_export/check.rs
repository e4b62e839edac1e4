//! The check of `doctor`.

use super::Target;
use crate::Services;
use crate::doctor::Check;

const ID: &str = "audit_export";

/// Reports whether this node can write the copies; `None` without one.
pub(crate) fn check(services: &Services) -> Option<Check> {
    let settings = &services.config.resolved().settings.audit;
    if settings.file.is_none() && settings.syslog.is_none() {
        return None;
    }
    let health = &services.audit_export.health;
    let failed = Target::ALL
        .into_iter()
        .find_map(|target| Some((target, health.of(target)?)));
    let Some((target, why)) = failed else {
        return Some(Check::fine(ID, "The audit log is copied."));
    };
    let hint = match target {
        Target::File => {
            "Check the path, its permissions and the free space. Only a new file, or one that ends with a record of the \
             audit log, is written to."
        }
        Target::Syslog => {
            "Check that syslog or journald runs, and that its datagram socket is at this path."
        }
    };
    let setting = target.setting();
    Some(Check::bad(
        ID,
        format!(
            "The audit log cannot be copied to {setting}: {why}. The records stay in the database and are copied as \
             soon as possible."
        ),
        hint,
    ))
}
