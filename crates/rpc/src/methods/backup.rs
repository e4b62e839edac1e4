//! The methods `backup.*`: backups in the directory for backups on the server.

use super::page::{PageParams, rows};
use crate::method_entry::{Audit, Call, Method, method};
use gatehouse_backup::age::Recipient;
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::backup::{BackupInfo, CreatedBackup};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// The maximum number of backups that `backup.create` keeps.
const MAX_KEPT: u16 = 10_000;

pub const CREATE: Method = method!(
    "backup.create",
    "Makes a backup in the directory of backup.to on the server.",
    Some(Scope::Admin),
    create(CreateParams) -> CreatedBackup,
    errors: [Conflict, ConfirmationRequired],
    audit: Audit::row("backup.created", &["keep"], &["name", "bytes", "rows", "deleted"]).outside()
);

pub const LIST: Method = method!(
    "backup.list",
    "Lists the backups in the directory of backup.to on the server, newest first.",
    Some(Scope::Admin),
    list(PageParams) -> BackupList,
    errors: [ConfirmationRequired]
);

/// Parameters of `backup.create`. Without `recipient` and `passphrase`, the setting `backup.recipient` applies.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateParams {
    /// An age recipient, `age1…`, or up to 20 with commas between them.
    recipient: Option<String>,
    /// Encrypts the backup instead of a recipient.
    #[schemars(with = "Option<String>", length(min = 1, max = 1024))]
    passphrase: Option<SecretString>,
    /// How many backups to keep. The older ones are deleted after this one is made; by default, none are.
    #[schemars(range(min = 1, max = 10_000))]
    keep: Option<u16>,
}

/// Omits the passphrase.
impl std::fmt::Debug for CreateParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreateParams")
            .field("recipient", &self.recipient)
            .field("keep", &self.keep)
            .finish_non_exhaustive()
    }
}

/// The answer of `backup.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BackupList {
    /// The backups, newest first.
    backups: Vec<BackupInfo>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The body of `POST /api/backup/stream`. Without `recipient` and `passphrase`, the setting `backup.recipient` applies.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamParams {
    /// An age recipient, `age1…`, or up to 20 with commas between them.
    recipient: Option<String>,
    /// Encrypts the backup instead of a recipient.
    #[schemars(with = "Option<String>", length(min = 1, max = 1024))]
    passphrase: Option<SecretString>,
}

/// Omits the passphrase.
impl std::fmt::Debug for StreamParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamParams")
            .field("recipient", &self.recipient)
            .finish_non_exhaustive()
    }
}

impl StreamParams {
    /// Returns the recipient that can decrypt the backup, if the caller names one.
    pub fn recipient(self) -> Result<Option<Recipient>, Problem> {
        recipient(self.recipient.as_deref(), self.passphrase)
    }
}

async fn create(call: Call, params: CreateParams) -> Result<CreatedBackup, Problem> {
    call.services.auth.require_step_up(&call.identity).await?;
    let recipient = recipient(params.recipient.as_deref(), params.passphrase)?;
    let keep = kept(params.keep)?;
    call.services.create_backup(recipient, keep).await
}

/// Checks the number of backups to keep.
fn kept(keep: Option<u16>) -> Result<Option<usize>, Problem> {
    if keep.is_none_or(|keep| (1..=MAX_KEPT).contains(&keep)) {
        Ok(keep.map(usize::from))
    } else {
        let reason = format!("1 to {MAX_KEPT}");
        Err(Problem::invalid_params("keep", reason))
    }
}

fn recipient(
    text: Option<&str>,
    passphrase: Option<SecretString>,
) -> Result<Option<Recipient>, Problem> {
    match (text, passphrase) {
        (Some(_), Some(_)) => Err(Problem::invalid_params(
            "passphrase",
            "not together with recipient",
        )),
        (None, None) => Ok(None),
        (None, Some(passphrase)) => Ok(Some(Recipient::Passphrase(passphrase))),
        (Some(text), None) => match Recipient::parse(text) {
            Ok(recipient) => Ok(Some(recipient)),
            Err(error) => Err(Problem::invalid_params("recipient", error.to_string())),
        },
    }
}

async fn list(call: Call, params: PageParams) -> Result<BackupList, Problem> {
    call.services.auth.require_step_up(&call.identity).await?;
    page(call.services.list_backups().await?, &params)
}

/// Returns one page. The cursor is the name of the last backup on the page. A cursor is refused after its backup was
/// deleted.
fn page(all: Vec<BackupInfo>, params: &PageParams) -> Result<BackupList, Problem> {
    let rows = rows(params.limit)?;
    let begin = match &params.cursor {
        None => 0,
        Some(last) => {
            let place = all.iter().position(|backup| backup.name == *last);
            let reason = "not a backup in the directory";
            place.ok_or_else(|| Problem::invalid_params("cursor", reason))? + 1
        }
    };
    let mut backups: Vec<_> = all.into_iter().skip(begin).take(rows + 1).collect();
    let has_more = backups.len() > rows;
    backups.truncate(rows);
    let last = backups.last().filter(|_| has_more);
    Ok(BackupList {
        next_cursor: last.map(|last| last.name.clone()),
        backups,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::Timestamp;
    use serde_json::Value;

    #[test]
    fn from_1_to_10000_backups_are_kept() {
        assert_eq!(kept(None).unwrap(), None);
        for (keep, good) in [(0, false), (1, true), (10_000, true), (10_001, false)] {
            assert_eq!(kept(Some(keep)).is_ok(), good, "{keep}");
        }
        assert_eq!(kept(Some(0)).unwrap_err().details["field"], "keep");
    }

    #[test]
    fn pages_of_backups_follow_each_other_without_gap() {
        let all = || {
            let named = |name: &str| BackupInfo {
                name: name.to_owned(),
                created_at: Timestamp::from_millis(1),
                bytes: 1,
                encrypted: false,
                checked: None,
            };
            ["c", "a", "b"].map(named).to_vec()
        };
        let names = |limit, cursor: Option<&str>| -> Result<(String, Option<String>), Value> {
            let params = PageParams {
                limit: Some(limit),
                cursor: cursor.map(str::to_owned),
            };
            let page = page(all(), &params).map_err(|problem| problem.details["field"].clone())?;
            let names: String = page.backups.into_iter().map(|backup| backup.name).collect();
            Ok((names, page.next_cursor))
        };
        assert_eq!(names(2, None), Ok(("ca".to_owned(), Some("a".to_owned()))));
        assert_eq!(names(2, Some("a")), Ok(("b".to_owned(), None)));
        assert_eq!(names(3, None), Ok(("cab".to_owned(), None)));
        assert_eq!(names(3, Some("b")), Ok((String::new(), None)));
        assert_eq!(names(3, Some("x")), Err("cursor".into()));
        assert_eq!(names(501, None), Err("limit".into()));
    }
}
