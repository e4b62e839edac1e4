//! Routes for the vault. A build without the vault omits them.

use super::{ADMIN, PUBLIC, row};
use crate::route::{Access, Route, StepUp, Verb};
use crate::routes::endpoint::{get, post};
use crate::routes::vault;
use gatehouse_auth::api;
use gatehouse_domain::Scope::Write;

use Access::Scope;
use Verb::{Get, Post};

pub(super) const ROWS: &[Route] = &[
    row(
        "vault.status",
        (Get, "/api/auth/vault/status"),
        PUBLIC,
        || get(vault::status),
        "The vault's state",
    )
    .gives::<api::VaultStatusAnswer>(),
    row(
        "vault.initialize",
        (Post, "/api/auth/vault/initialize"),
        ADMIN,
        || post(vault::initialize),
        "Creates the vault with the login password",
    )
    .takes::<api::VaultPassword>()
    .gives::<api::VaultAnswer>(),
    row(
        "vault.unlock",
        (Post, "/api/auth/vault/unlock"),
        Scope(Write),
        || post(vault::unlock),
        "Unlocks the vault with the password",
    )
    .takes::<api::VaultPassword>()
    .gives::<api::VaultAnswer>(),
    row(
        "vault.recovery",
        (Post, "/api/auth/vault/recovery"),
        Scope(Write),
        || post(vault::recovery),
        "Unlocks the vault with the recovery key",
    )
    .takes::<api::VaultRecovery>()
    .gives::<api::VaultAnswer>(),
    row(
        "vault.disable",
        (Post, "/api/auth/vault/disable"),
        ADMIN,
        || post(vault::disable),
        "Decrypts every secret and disables the vault",
    )
    .takes::<api::VaultOptionalPassword>()
    .gives::<api::VaultDisableAnswer>()
    .confirmed(StepUp::OrPassword),
    row(
        "vault.enable",
        (Post, "/api/auth/vault/enable"),
        ADMIN,
        || post(vault::enable),
        "Enables the vault",
    )
    .takes::<api::VaultOptionalPassword>()
    .gives::<api::VaultAnswer>(),
    row(
        "vault.seal",
        (Post, "/api/auth/vault/seal"),
        ADMIN,
        || post(vault::seal),
        "Seals the vault",
    )
    .gives::<api::VaultAnswer>(),
    row(
        "vault.rotate",
        (Post, "/api/auth/vault/rotate"),
        ADMIN,
        || post(vault::rotate),
        "Creates a new key and re-encrypts every secret",
    )
    .takes::<api::VaultPassword>()
    .gives::<api::VaultAnswer>()
    .confirmed(StepUp::OrPassword),
    row(
        "vault.recovery_key",
        (Post, "/api/auth/vault/recovery-key"),
        ADMIN,
        || post(vault::recovery_key),
        "Creates a new recovery key",
    )
    .takes::<api::VaultPassword>()
    .gives::<api::VaultRecoveryKeyAnswer>()
    .confirmed(StepUp::OrPassword),
];
