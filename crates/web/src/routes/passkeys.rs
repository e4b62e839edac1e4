//! `/api/auth/passkey/*` and `/api/auth/passkeys`.

use crate::app::App;
use crate::body::{JsonBody, Requester};
use crate::respond::{Refusal, json, outcome};
use axum::extract::{Path, State};
use axum::response::Response;
use gatehouse_auth::api::EmptyRequest;
use gatehouse_auth::passkeys::api::{
    LoginFinishRequest, RegisterBeginRequest, RegisterFinishRequest, RenameRequest,
};
use gatehouse_domain::PasskeyId;

type Answer = Result<Response, Refusal>;

pub(super) async fn register_begin(
    State(app): State<App>,
    requester: Requester,
    JsonBody(request): JsonBody<RegisterBeginRequest>,
) -> Answer {
    let (auth, origin) = (app.auth(), requester.origin());
    Ok(json(
        &auth
            .passkey_register_begin(&requester.caller(), request, origin)
            .await?,
    ))
}

pub(super) async fn register_finish(
    State(app): State<App>,
    requester: Requester,
    JsonBody(request): JsonBody<RegisterFinishRequest>,
) -> Answer {
    outcome(
        app.auth()
            .passkey_register_finish(&requester.caller(), request)
            .await?,
    )
}

pub(super) async fn login_begin(
    State(app): State<App>,
    requester: Requester,
    JsonBody(EmptyRequest {}): JsonBody<EmptyRequest>,
) -> Answer {
    Ok(json(
        &app.auth()
            .passkey_login_begin(&requester.caller(), requester.origin())
            .await?,
    ))
}

pub(super) async fn login_finish(
    State(app): State<App>,
    requester: Requester,
    JsonBody(request): JsonBody<LoginFinishRequest>,
) -> Answer {
    outcome(
        app.auth()
            .passkey_login_finish(&requester.caller(), request)
            .await?,
    )
}

pub(super) async fn list(State(app): State<App>, requester: Requester) -> Answer {
    Ok(json(&app.auth().list_passkeys(&requester.caller()).await?))
}

pub(super) async fn rename(
    State(app): State<App>,
    requester: Requester,
    Path(id): Path<PasskeyId>,
    JsonBody(request): JsonBody<RenameRequest>,
) -> Answer {
    outcome(
        app.auth()
            .rename_passkey(&requester.caller(), id, request)
            .await?,
    )
}

pub(super) async fn remove(
    State(app): State<App>,
    requester: Requester,
    Path(id): Path<PasskeyId>,
    JsonBody(EmptyRequest {}): JsonBody<EmptyRequest>,
) -> Answer {
    outcome(app.auth().delete_passkey(&requester.caller(), id).await?)
}
