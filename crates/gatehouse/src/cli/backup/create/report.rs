//! Reports a created backup.

use crate::cli::{
    backup::manifest_record,
    output::{Output, line, note},
};
use anyhow::Result;
use gatehouse_backup::Created;
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn report(
    out: &Output,
    path: &Path,
    created: &Created,
    is_encrypted: bool,
    is_verified: bool,
    deleted: &[Value],
) -> Result<()> {
    let mut record = manifest_record(&created.manifest);
    if let Some(fields) = record.as_object_mut() {
        fields.insert("path".to_owned(), json!(path));
        fields.insert("bytes".to_owned(), created.bytes.into());
        fields.insert("encrypted".to_owned(), is_encrypted.into());
        fields.insert("deleted".to_owned(), json!(deleted));
        if is_verified {
            fields.insert("verified".to_owned(), true.into());
        }
    }
    out.record(&record, || {
        line(path.display());
        let next = match (is_verified, is_encrypted) {
            (false, _) => "Check it with: gatehouse backup verify FILE",
            (true, false) => "Its trial restore succeeded.",
            (true, true) => {
                "Its trial restore succeeded, with the key of the file. Check your own key with: gatehouse backup \
                 verify FILE"
            }
        };
        note(format!(
            "{} rows, {}. {next}",
            created.manifest.rows(),
            indicatif::BinaryBytes(created.bytes)
        ));
        if !deleted.is_empty() {
            note(match deleted.len() {
                1 => "One older backup was deleted.".to_owned(),
                count => format!("{count} older backups were deleted."),
            });
        }
    })
}
