//! Creates a record, opens it, and replaces its password, recovery key or data key.

use super::{OpenError, SALT_BYTES, VaultRecord, check_wrapped};
use crate::cipher::{CryptoError, KEY_BYTES};
use crate::kdf::KdfParams;
use crate::{Aad, Dek, HoldPrivateKey, RecoveryKey, cipher, kdf};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatehouse_domain::{Random, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

/// The data key wrapped for a password, with a new salt and the specified cost.
struct PasswordCopy {
    kdf_salt: String,
    kdf_params: String,
    wrapped_dek: String,
}

impl PasswordCopy {
    fn make(dek: &Dek, password: &SecretString, random: &dyn Random) -> Result<Self, CryptoError> {
        let salt: [u8; SALT_BYTES] = random.bytes();
        let params = KdfParams::SPECIFIED;
        let kek = kdf::derive(password.expose_secret().as_bytes(), &salt, params)?;
        Ok(Self {
            kdf_salt: STANDARD.encode(salt),
            kdf_params: params.to_json(),
            wrapped_dek: cipher::seal(&kek, random, &Aad::WrappedDek, dek.expose())?,
        })
    }
}

/// The data key wrapped for a recovery key.
struct RecoveryCopy {
    wrapped_dek: String,
    key: RecoveryKey,
}

impl RecoveryCopy {
    fn make(dek: &Dek, random: &dyn Random) -> Result<Self, CryptoError> {
        let key = RecoveryKey::generate(random);
        let kek: Zeroizing<[u8; KEY_BYTES]> = key.derive_kek()?;
        let wrapped_dek = cipher::seal(&kek, random, &Aad::RecoveryWrappedDek, dek.expose())?;
        Ok(Self { wrapped_dek, key })
    }
}

/// Creates a vault: a new data key, wrapped for the password and for a new recovery key. Uses the
/// password's UTF-8 bytes without normalization.
pub fn create(
    password: &SecretString,
    random: &dyn Random,
    now: Timestamp,
) -> Result<(VaultRecord, Dek, RecoveryKey), CryptoError> {
    let dek = Dek::generate(random);
    let by_password = PasswordCopy::make(&dek, password, random)?;
    let recovery = RecoveryCopy::make(&dek, random)?;
    let hold = HoldPrivateKey::generate(random);
    let record = VaultRecord {
        version: VaultRecord::VERSION,
        kdf_salt: by_password.kdf_salt,
        kdf_params: by_password.kdf_params,
        wrapped_dek: by_password.wrapped_dek,
        recovery_wrapped_dek: Some(recovery.wrapped_dek),
        recovery_key_hash: Some(recovery.key.hash()),
        dek_id: dek.id().to_string(),
        dek_commitment: dek.commitment(),
        hold_public_key: Some(hold.public().encode()),
        hold_private_key: Some(hold.wrap(&dek, random)?),
        created_at: now.as_millis(),
        updated_at: now.as_millis(),
    };
    Ok((record, dek, recovery.key))
}

/// Opens the record with the password.
pub fn open_with_password(record: &VaultRecord, password: &SecretString) -> Result<Dek, OpenError> {
    record.check()?;
    let secret = password.expose_secret().as_bytes();
    let kek = kdf::derive(secret, &record.salt()?, record.params()?)?;
    record.unwrap_dek(&kek, &Aad::WrappedDek, &record.wrapped_dek)
}

/// Opens the record with the recovery key. Ignores the password columns, so a record whose password columns are
/// damaged can be opened and get a new password.
pub fn open_with_recovery_key(record: &VaultRecord, key: &RecoveryKey) -> Result<Dek, OpenError> {
    record.check_version()?;
    record.check_dek_columns()?;
    let wrapped = record
        .recovery_wrapped_dek
        .as_deref()
        .ok_or(OpenError::NoRecovery)?;
    check_wrapped(wrapped, "recovery_wrapped_dek")?;
    let kek = key.derive_kek()?;
    record.unwrap_dek(&kek, &Aad::RecoveryWrappedDek, wrapped)
}

/// Returns the record for a new password: the same data key with a new salt. The recovery copy and
/// all encrypted data stay the same.
pub fn rewrap_password(
    record: &VaultRecord,
    dek: &Dek,
    new_password: &SecretString,
    random: &dyn Random,
    now: Timestamp,
) -> Result<VaultRecord, OpenError> {
    record.check_is_mine(dek)?;
    let by_password = PasswordCopy::make(dek, new_password, random)?;
    Ok(VaultRecord {
        kdf_salt: by_password.kdf_salt,
        kdf_params: by_password.kdf_params,
        wrapped_dek: by_password.wrapped_dek,
        updated_at: now.as_millis(),
        ..record.clone()
    })
}

/// Returns the record with a new recovery key. The old one becomes invalid.
pub fn new_recovery_key(
    record: &VaultRecord,
    dek: &Dek,
    random: &dyn Random,
    now: Timestamp,
) -> Result<(VaultRecord, RecoveryKey), OpenError> {
    record.check_is_mine(dek)?;
    let recovery = RecoveryCopy::make(dek, random)?;
    let record = VaultRecord {
        recovery_wrapped_dek: Some(recovery.wrapped_dek),
        recovery_key_hash: Some(recovery.key.hash()),
        updated_at: now.as_millis(),
        ..record.clone()
    };
    Ok((record, recovery.key))
}

/// Returns the record with a new data key, the same password and a new recovery key. Fails if the password does not
/// open the old record. The caller must re-encrypt every secret and store the record in one transaction.
pub fn rotate(
    record: &VaultRecord,
    password: &SecretString,
    random: &dyn Random,
    now: Timestamp,
) -> Result<(VaultRecord, Dek, RecoveryKey), OpenError> {
    let old_dek = open_with_password(record, password)?;
    let (new, dek, key) = create(password, random, now)?;
    let new = VaultRecord {
        created_at: record.created_at,
        ..new
    };
    let new = new.keep_hold_key(&dek, record, &old_dek, random)?;
    Ok((new, dek, key))
}
