//! `/api/auth/passkey/*` and `/api/auth/passkeys`.

use crate::app::App;
use crate::body::{JsonBody, Visitor};
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
    visitor: Visitor,
    JsonBody(request): JsonBody<RegisterBeginRequest>,
) -> Answer {
    let (auth, origin) = (app.auth(), visitor.origin());
    Ok(json(
        &auth
            .passkey_register_begin(&visitor.caller(), request, origin)
            .await?,
    ))
}

pub(super) async fn register_finish(
    State(app): State<App>,
    visitor: Visitor,
    JsonBody(request): JsonBody<RegisterFinishRequest>,
) -> Answer {
    outcome(
        app.auth()
            .passkey_register_finish(&visitor.caller(), request)
            .await?,
    )
}

pub(super) async fn login_begin(
    State(app): State<App>,
    visitor: Visitor,
    JsonBody(EmptyRequest {}): JsonBody<EmptyRequest>,
) -> Answer {
    Ok(json(
        &app.auth()
            .passkey_login_begin(&visitor.caller(), visitor.origin())
            .await?,
    ))
}

pub(super) async fn login_finish(
    State(app): State<App>,
    visitor: Visitor,
    JsonBody(request): JsonBody<LoginFinishRequest>,
) -> Answer {
    outcome(
        app.auth()
            .passkey_login_finish(&visitor.caller(), request)
            .await?,
    )
}

pub(super) async fn list(State(app): State<App>, visitor: Visitor) -> Answer {
    Ok(json(&app.auth().list_passkeys(&visitor.caller()).await?))
}

pub(super) async fn rename(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<PasskeyId>,
    JsonBody(request): JsonBody<RenameRequest>,
) -> Answer {
    outcome(
        app.auth()
            .rename_passkey(&visitor.caller(), id, request)
            .await?,
    )
}

pub(super) async fn remove(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<PasskeyId>,
    JsonBody(EmptyRequest {}): JsonBody<EmptyRequest>,
) -> Answer {
    outcome(app.auth().delete_passkey(&visitor.caller(), id).await?)
}
