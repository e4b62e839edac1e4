//! Routes for setup, login, sessions, API keys and reset.

use super::{ADMIN, PUBLIC, READ, row};
use crate::route::{Access, Route, StepUp, Verb};
use crate::routes::auth;
use crate::routes::endpoint::{delete, get, post};
use gatehouse_auth::api;

use Access::Identity;
use Verb::{Delete, Get, Post};

pub(super) const ROWS: &[Route] = &[
    row(
        "auth.status",
        (Get, "/api/auth/status"),
        PUBLIC,
        || get(auth::status),
        "Returns the state of setup and the caller's login",
    )
    .gives::<api::AuthStatus>(),
    row(
        "auth.setup",
        (Post, "/api/auth/setup"),
        PUBLIC,
        || post(auth::setup),
        "Sets the first password",
    )
    .takes::<api::SetupRequest>()
    .with_setup_code()
    .gives::<api::SetupAnswer>(),
    row(
        "auth.login",
        (Post, "/api/auth/login"),
        PUBLIC,
        || post(auth::login),
        "Logs in with the password",
    )
    .takes::<api::LoginRequest>()
    .gives::<api::Done>(),
    row(
        "auth.logout",
        (Post, "/api/auth/logout"),
        Identity,
        || post(auth::logout),
        "Ends this session",
    )
    .gives::<api::Done>(),
    row(
        "auth.confirm",
        (Post, "/api/auth/confirm"),
        ADMIN,
        || post(auth::confirm),
        "Confirms with the password or a passkey",
    )
    .takes::<api::ConfirmRequest>()
    .gives::<api::ConfirmAnswer>(),
    row(
        "auth.password.change",
        (Post, "/api/auth/password/change"),
        ADMIN,
        || post(auth::change_password),
        "Changes or first sets the password",
    )
    .takes::<api::PasswordChangeRequest>()
    .with_setup_code()
    .gives::<api::SetupAnswer>(),
    row(
        "auth.sessions.list",
        (Get, "/api/auth/sessions"),
        READ,
        || get(auth::list_sessions),
        "Logins",
    )
    .gives::<api::SessionList>(),
    row(
        "auth.sessions.delete",
        (Delete, "/api/auth/sessions/{id}"),
        ADMIN,
        || delete(auth::end_session),
        "Revokes a login, and the keys and devices that it created unless `keep_children` is true",
    )
    .takes::<api::EndSessionRequest>()
    .gives::<api::Done>(),
    row(
        "auth.sessions.delete_others",
        (Delete, "/api/auth/sessions"),
        ADMIN,
        || delete(auth::end_other_sessions),
        "Revokes every other login, and what they created unless `keep_children` is true",
    )
    .takes::<api::EndSessionRequest>()
    .gives::<api::EndedAnswer>(),
    row(
        "auth.api_keys.list",
        (Get, "/api/auth/api-keys"),
        READ,
        || get(auth::list_api_keys),
        "API keys",
    )
    .gives::<api::ApiKeyList>(),
    row(
        "auth.api_keys.create",
        (Post, "/api/auth/api-keys"),
        ADMIN,
        || post(auth::create_api_key),
        "Creates an API key, which is shown once",
    )
    .takes::<api::CreateApiKeyRequest>()
    .gives::<api::ApiKeyCreated>(),
    row(
        "auth.api_keys.delete",
        (Delete, "/api/auth/api-keys/{id}"),
        ADMIN,
        || delete(auth::delete_api_key),
        "Revokes an API key, and what it created unless `keep_children` is true",
    )
    .takes::<api::RevokeApiKeyRequest>()
    .gives::<api::Done>(),
    row(
        "auth.reset",
        (Post, "/api/auth/reset"),
        ADMIN,
        || post(auth::reset),
        "Removes all auth; secrets are kept",
    )
    .gives::<api::ResetAnswer>()
    .confirmed(StepUp::Always),
];
