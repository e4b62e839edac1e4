//! Converts between the vault crate's record and the store's row. Both have the same columns, but the two crates
//! may not depend on each other.

use crate::VaultError;
use gatehouse_store::{Conn, VaultRow};
use gatehouse_vault::VaultRecord;

pub(crate) fn record_of(row: VaultRow) -> VaultRecord {
    VaultRecord {
        version: row.version,
        kdf_salt: row.kdf_salt,
        kdf_params: row.kdf_params,
        wrapped_dek: row.wrapped_dek,
        recovery_wrapped_dek: row.recovery_wrapped_dek,
        recovery_key_hash: row.recovery_key_hash,
        dek_id: row.dek_id,
        dek_commitment: row.dek_commitment,
        hold_public_key: row.hold_public_key,
        hold_private_key: row.hold_private_key,
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

fn row_of(record: &VaultRecord) -> VaultRow {
    let record = record.clone();
    VaultRow {
        version: record.version,
        kdf_salt: record.kdf_salt,
        kdf_params: record.kdf_params,
        wrapped_dek: record.wrapped_dek,
        recovery_wrapped_dek: record.recovery_wrapped_dek,
        recovery_key_hash: record.recovery_key_hash,
        dek_id: record.dek_id,
        dek_commitment: record.dek_commitment,
        hold_public_key: record.hold_public_key,
        hold_private_key: record.hold_private_key,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

/// Stores the first record. Refuses if there are encrypted rows, because a lost record could still open them.
pub(crate) async fn insert(conn: &mut Conn, record: &VaultRecord) -> Result<(), VaultError> {
    if conn.find_vault().await?.is_none() && conn.count_encrypted().await? > 0 {
        return Err(VaultError::RecordLost);
    }
    if conn.insert_vault(&row_of(record)).await? {
        Ok(())
    } else {
        Err(VaultError::RecordExists)
    }
}

/// Replaces the record if it is identical to the record that was opened.
pub(crate) async fn replace(
    conn: &mut Conn,
    opened: &VaultRecord,
    new: &VaultRecord,
) -> Result<(), VaultError> {
    let opened = row_of(opened);
    if conn.find_vault().await?.as_ref() == Some(&opened)
        && conn.update_vault(&opened, &row_of(new)).await?
    {
        Ok(())
    } else {
        Err(VaultError::Changed)
    }
}
