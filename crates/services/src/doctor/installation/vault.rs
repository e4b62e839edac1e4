//! Findings about the vault.

use crate::Services;
use crate::doctor::Check;
use gatehouse_config::Vault;
use gatehouse_secrets::Status;
use gatehouse_store::StoreError;

pub(in super::super) fn vault(status: Status) -> Check {
    match status {
        Status::Unsealed => Check::fine("vault", "The vault is unlocked."),
        Status::Uninitialized => Check {
            hint: Some("It is created when the first password is set.".to_owned()),
            ..Check::fine(
                "vault",
                "There is no vault yet; stored secrets are plaintext.",
            )
        },
        Status::Sealed => Check::bad(
            "vault",
            "The vault is sealed; stored secrets cannot be read.",
            "Log in with the password, run `gatehouse vault unlock`, or configure auto-unseal.",
        ),
        Status::Disabled => Check::bad(
            "vault",
            "The vault is disabled; stored secrets are plaintext.",
            "Open the Vault page and turn it on.",
        ),
    }
}

/// Reports the vault of a restored copy, which nothing unlocks.
pub(in super::super) fn vault_of_copy(status: Status) -> Check {
    if status == Status::Sealed {
        let message = "The vault is sealed and was not unlocked. It opens with the password or the recovery key of the \
                       time of the backup.";
        return Check::fine("vault", message);
    }
    vault(status)
}

/// Reports whether unlocking this node also unlocks other nodes on the database. Returns `None` without a vault,
/// and on SQLite, which has one node.
pub(in super::super) fn shared_unseal(
    is_shared: bool,
    status: Status,
    settings: &Vault,
) -> Option<Check> {
    let id = "shared_unseal";
    if !is_shared || matches!(status, Status::Uninitialized | Status::Disabled) {
        return None;
    }
    if settings.cluster_secret.is_some() && settings.share_unseal {
        let message = "Nodes with the same vault.cluster_secret share the vault's key.";
        return Some(Check::fine(id, message));
    }
    let hint = "If several nodes use this database, give all of them the same vault.cluster_secret. Otherwise each one \
                must be unlocked separately, and a rotation seals the others.";
    Some(Check {
        hint: Some(hint.to_owned()),
        ..Check::fine(
            id,
            "This node does not share the vault's key with other nodes.",
        )
    })
}

pub(in super::super) async fn plaintext(services: &Services, status: Status) -> Check {
    let id = "plaintext_secrets";
    let counted = services.store.read(|conn| {
        Box::pin(async move {
            let variables = conn.list_env_variables().await?;
            let keys = conn.list_ssh_keys().await?;
            let plain = variables.iter().filter(|row| !row.encrypted).count()
                + keys.iter().filter(|row| !row.encrypted).count();
            Ok::<_, StoreError>(plain)
        })
    });
    match (counted.await, status) {
        (Err(_), _) => Check::bad(
            id,
            "Stored secrets could not be counted.",
            "See the `database` check.",
        ),
        (Ok(0), _) => Check::fine(id, "No variable or SSH key is stored as plaintext."),
        (Ok(count), Status::Sealed) => Check::bad(
            id,
            format!("{count} secret(s) were stored as plaintext while the vault was sealed."),
            "Unlock the vault to encrypt them.",
        ),
        (Ok(count), Status::Unsealed) => Check::bad(
            id,
            format!("{count} secret(s) are plaintext although the vault is unlocked."),
            "Unlock the vault again. If they remain, the log has the reason.",
        ),
        (Ok(count), Status::Uninitialized | Status::Disabled) => Check::fine(
            id,
            format!("{count} secret(s) are plaintext because there is no vault."),
        ),
    }
}
