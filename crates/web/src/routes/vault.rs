//! `/api/auth/vault/*`.

use crate::app::App;
use crate::body::{JsonBody, Requester};
use crate::respond::{Refusal, json};
use axum::extract::State;
use axum::response::Response;
use gatehouse_auth::api::{EmptyRequest, VaultOptionalPassword, VaultPassword, VaultRecovery};

type Answer = Result<Response, Refusal>;

pub(super) async fn status(State(app): State<App>) -> Response {
    json(&app.auth().vault_status())
}

/// Defines one handler per route: reads the body and calls the named operation.
macro_rules! vault_handlers {
    ($($handler:ident($request:ty) calls $operation:ident;)+) => {$(
        pub(super) async fn $handler(
            State(app): State<App>,
            requester: Requester,
            JsonBody(request): JsonBody<$request>,
        ) -> Answer {
            Ok(json(&app.auth().$operation(&requester.caller(), request).await?))
        }
    )+};
}

vault_handlers! {
    initialize(VaultPassword) calls vault_initialize;
    unlock(VaultPassword) calls vault_unlock;
    recovery(VaultRecovery) calls vault_recovery;
    disable(VaultOptionalPassword) calls vault_disable;
    enable(VaultOptionalPassword) calls vault_enable;
    seal(EmptyRequest) calls vault_seal;
    rotate(VaultPassword) calls vault_rotate;
    recovery_key(VaultPassword) calls vault_recovery_key;
}
