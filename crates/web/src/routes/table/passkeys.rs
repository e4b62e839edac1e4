//! Routes for passkeys.

use super::{ADMIN, PUBLIC, READ, row};
use crate::route::{Access, Route, StepUp, Verb};
use crate::routes::endpoint::{delete, get, patch, post};
use crate::routes::passkeys;
use gatehouse_auth::api;
use gatehouse_auth::passkeys::api as passkey_api;

use Access::AdminOrSetup;
use Verb::{Delete, Get, Patch, Post};

pub(super) const ROWS: &[Route] = &[
    row(
        "auth.passkeys.register_begin",
        (Post, "/api/auth/passkey/register/begin"),
        AdminOrSetup,
        || post(passkeys::register_begin),
        "Starts registering a passkey",
    )
    .takes::<passkey_api::RegisterBeginRequest>()
    .with_setup_code()
    .confirmed(StepUp::Always)
    .gives::<passkey_api::CeremonyBegun>(),
    row(
        "auth.passkeys.register_finish",
        (Post, "/api/auth/passkey/register/finish"),
        AdminOrSetup,
        || post(passkeys::register_finish),
        "Registers a passkey",
    )
    .takes::<passkey_api::RegisterFinishRequest>()
    .with_setup_code()
    .confirmed(StepUp::Always)
    .gives::<passkey_api::PasskeyMade>(),
    row(
        "auth.passkeys.login_begin",
        (Post, "/api/auth/passkey/auth/begin"),
        PUBLIC,
        || post(passkeys::login_begin),
        "Starts a login with a passkey",
    )
    .gives::<passkey_api::CeremonyBegun>(),
    row(
        "auth.passkeys.login_finish",
        (Post, "/api/auth/passkey/auth/finish"),
        PUBLIC,
        || post(passkeys::login_finish),
        "Logs in with a passkey",
    )
    .takes::<passkey_api::LoginFinishRequest>()
    .gives::<api::Done>(),
    row(
        "auth.passkeys.list",
        (Get, "/api/auth/passkeys"),
        READ,
        || get(passkeys::list),
        "Passkeys",
    )
    .gives::<passkey_api::PasskeyList>(),
    row(
        "auth.passkeys.update",
        (Patch, "/api/auth/passkeys/{id}"),
        ADMIN,
        || patch(passkeys::rename),
        "Renames a passkey",
    )
    .takes::<passkey_api::RenameRequest>()
    .gives::<api::Done>(),
    row(
        "auth.passkeys.delete",
        (Delete, "/api/auth/passkeys/{id}"),
        ADMIN,
        || delete(passkeys::remove),
        "Removes a passkey",
    )
    .gives::<api::Done>()
    .confirmed(StepUp::Always),
];
