//! The table itself.

#[cfg(feature = "vault")]
use super::vault;
use super::{Access, Route, StepUp, Verb, auth, documents, passkeys, rpc, status};
use crate::app::App;
use crate::{pages, socket};
use axum::routing::{MethodRouter, delete, get, patch, post};
use gatehouse_auth::api;
use gatehouse_auth::passkeys::api as passkey_api;
use gatehouse_domain::Scope::{Admin, Read, Write};
use schemars::{JsonSchema, SchemaGenerator};

use Verb::{Delete, Get, Patch, Post};

const fn row(
    id: &'static str,
    (verb, path): (Verb, &'static str),
    access: Access,
    handler: fn() -> MethodRouter<App>,
    summary: &'static str,
) -> Route {
    Route {
        id,
        verb,
        path,
        access,
        step_up: StepUp::No,
        summary,
        body: None,
        answer: None,
        handler,
    }
}

impl Route {
    const fn takes<T: JsonSchema>(mut self) -> Self {
        self.body = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    const fn gives<T: JsonSchema>(mut self) -> Self {
        self.answer = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    const fn confirmed(mut self, step_up: StepUp) -> Self {
        self.step_up = step_up;
        self
    }
}

const PUBLIC: Access = Access::Public;
const READ: Access = Access::Scope(Read);
const ADMIN: Access = Access::Scope(Admin);

/// Every endpoint.
pub const ROUTES: &[Route] = &{
    use Access::{Identity, IdentityOrSetup, Scope};
    [
        row(
            "health",
            (Get, "/health"),
            PUBLIC,
            || get(status::health),
            "Says that the server runs",
        )
        .gives::<status::Health>(),
        row(
            "metrics",
            (Get, "/metrics"),
            READ,
            || get(status::metrics),
            "Metrics for Prometheus",
        ),
        row(
            "page.home",
            (Get, "/"),
            Identity,
            || get(pages::page),
            "The page",
        ),
        row(
            "page.onboarding",
            (Get, "/onboarding"),
            Identity,
            || get(pages::page),
            "The page",
        ),
        row(
            "page.asset",
            (Get, "/assets/{*path}"),
            PUBLIC,
            || get(pages::asset),
            "Page files",
        ),
        row(
            "page.icon",
            (Get, "/icons/{*path}"),
            PUBLIC,
            || get(pages::icon),
            "Page icons",
        ),
        row(
            "page.favicon",
            (Get, "/favicon.ico"),
            PUBLIC,
            || get(pages::favicon),
            "Page icon",
        ),
        row(
            "page.manifest",
            (Get, "/manifest.json"),
            PUBLIC,
            || get(pages::manifest),
            "Web app manifest",
        ),
        row(
            "page.worker",
            (Get, "/sw.js"),
            PUBLIC,
            || get(pages::service_worker),
            "Service worker",
        ),
        row(
            "auth.callback",
            (Get, "/auth/callback"),
            PUBLIC,
            || get(status::oauth_callback),
            "OAuth callback",
        ),
        row(
            "share.get",
            (Get, "/share/{id}"),
            PUBLIC,
            || get(status::share),
            "A shared session",
        ),
        row(
            "gon",
            (Get, "/api/gon"),
            READ,
            || get(status::first_facts),
            "What the page needs first",
        )
        .gives::<gatehouse_rpc::gon::Gon>(),
        row(
            "bootstrap",
            (Get, "/api/bootstrap"),
            READ,
            || get(status::bootstrap),
            "What the page needs next",
        )
        .gives::<gatehouse_rpc::gon::Bootstrap>(),
        row(
            "sessions.list",
            (Get, "/api/sessions"),
            READ,
            || get(status::sessions),
            "Chat sessions",
        )
        .gives::<status::SessionList>(),
        row(
            "sessions.get",
            (Get, "/api/sessions/{id}"),
            READ,
            || get(status::session),
            "A chat session",
        ),
        row(
            "sessions.messages",
            (Get, "/api/sessions/{id}/messages"),
            READ,
            || get(status::session),
            "Its messages",
        ),
        row(
            "openapi",
            (Get, "/api/openapi.json"),
            READ,
            || get(documents::openapi),
            "This document",
        ),
        row(
            "openrpc",
            (Get, "/api/openrpc.json"),
            READ,
            || get(documents::openrpc),
            "The RPC methods",
        ),
        row(
            "rpc",
            (Post, "/api/rpc"),
            Identity,
            || post(rpc::call),
            "JSON-RPC 2.0, single or batch",
        ),
        row(
            "ws",
            (Get, "/ws"),
            PUBLIC,
            || get(socket::node),
            "JSON-RPC over a WebSocket; `connect` authenticates",
        ),
        row(
            "ws.chat",
            (Get, "/ws/chat"),
            Identity,
            || get(socket::chat),
            "JSON-RPC over a WebSocket",
        ),
        row(
            "auth.status",
            (Get, "/api/auth/status"),
            PUBLIC,
            || get(auth::status),
            "Who is there, what is set up",
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
        .gives::<api::SetupAnswer>(),
        row(
            "auth.login",
            (Post, "/api/auth/login"),
            PUBLIC,
            || post(auth::login),
            "Logs in by password",
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
            "Proves that the person is there",
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
            "Ends a login",
        )
        .gives::<api::Done>(),
        row(
            "auth.sessions.delete_others",
            (Delete, "/api/auth/sessions"),
            ADMIN,
            || delete(auth::end_other_sessions),
            "Ends every other login",
        )
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
            "Makes an API key, shown once",
        )
        .takes::<api::CreateApiKeyRequest>()
        .gives::<api::ApiKeyCreated>(),
        row(
            "auth.api_keys.delete",
            (Delete, "/api/auth/api-keys/{id}"),
            ADMIN,
            || delete(auth::delete_api_key),
            "Revokes an API key",
        )
        .gives::<api::Done>(),
        row(
            "auth.passkeys.register_begin",
            (Post, "/api/auth/passkey/register/begin"),
            IdentityOrSetup,
            || post(passkeys::register_begin),
            "Begins to register a passkey",
        )
        .takes::<passkey_api::RegisterBeginRequest>()
        .gives::<passkey_api::CeremonyBegun>(),
        row(
            "auth.passkeys.register_finish",
            (Post, "/api/auth/passkey/register/finish"),
            IdentityOrSetup,
            || post(passkeys::register_finish),
            "Registers a passkey",
        )
        .takes::<passkey_api::RegisterFinishRequest>()
        .gives::<passkey_api::PasskeyMade>(),
        row(
            "auth.passkeys.login_begin",
            (Post, "/api/auth/passkey/auth/begin"),
            PUBLIC,
            || post(passkeys::login_begin),
            "Begins to log in by passkey",
        )
        .gives::<passkey_api::CeremonyBegun>(),
        row(
            "auth.passkeys.login_finish",
            (Post, "/api/auth/passkey/auth/finish"),
            PUBLIC,
            || post(passkeys::login_finish),
            "Logs in by passkey",
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
        row(
            "auth.reset",
            (Post, "/api/auth/reset"),
            ADMIN,
            || post(auth::reset),
            "Removes all auth; secrets are kept",
        )
        .gives::<api::ResetAnswer>()
        .confirmed(StepUp::Always),
        #[cfg(feature = "vault")]
        row(
            "vault.status",
            (Get, "/api/auth/vault/status"),
            PUBLIC,
            || get(vault::status),
            "The vault's state",
        )
        .gives::<api::VaultStatusAnswer>(),
        #[cfg(feature = "vault")]
        row(
            "vault.initialize",
            (Post, "/api/auth/vault/initialize"),
            ADMIN,
            || post(vault::initialize),
            "Makes the vault for the login password",
        )
        .takes::<api::VaultPassword>()
        .gives::<api::VaultAnswer>(),
        #[cfg(feature = "vault")]
        row(
            "vault.unlock",
            (Post, "/api/auth/vault/unlock"),
            Scope(Write),
            || post(vault::unlock),
            "Unseals by password",
        )
        .takes::<api::VaultPassword>()
        .gives::<api::VaultAnswer>(),
        #[cfg(feature = "vault")]
        row(
            "vault.recovery",
            (Post, "/api/auth/vault/recovery"),
            Scope(Write),
            || post(vault::recovery),
            "Unseals by recovery key",
        )
        .takes::<api::VaultRecovery>()
        .gives::<api::VaultAnswer>(),
        #[cfg(feature = "vault")]
        row(
            "vault.disable",
            (Post, "/api/auth/vault/disable"),
            ADMIN,
            || post(vault::disable),
            "Decrypts every secret and goes without a vault",
        )
        .takes::<api::VaultOptionalPassword>()
        .gives::<api::VaultDisableAnswer>()
        .confirmed(StepUp::OrPassword),
        #[cfg(feature = "vault")]
        row(
            "vault.enable",
            (Post, "/api/auth/vault/enable"),
            ADMIN,
            || post(vault::enable),
            "Goes with the vault again",
        )
        .takes::<api::VaultOptionalPassword>()
        .gives::<api::VaultAnswer>(),
        #[cfg(feature = "vault")]
        row(
            "vault.seal",
            (Post, "/api/auth/vault/seal"),
            ADMIN,
            || post(vault::seal),
            "Forgets the key",
        )
        .gives::<api::VaultAnswer>(),
        #[cfg(feature = "vault")]
        row(
            "vault.rotate",
            (Post, "/api/auth/vault/rotate"),
            ADMIN,
            || post(vault::rotate),
            "Makes a new key and re-encrypts every secret",
        )
        .takes::<api::VaultPassword>()
        .gives::<api::VaultAnswer>()
        .confirmed(StepUp::OrPassword),
        #[cfg(feature = "vault")]
        row(
            "vault.recovery_key",
            (Post, "/api/auth/vault/recovery-key"),
            ADMIN,
            || post(vault::recovery_key),
            "Makes a new recovery key",
        )
        .takes::<api::VaultPassword>()
        .gives::<api::VaultRecoveryKeyAnswer>()
        .confirmed(StepUp::OrPassword),
    ]
};
