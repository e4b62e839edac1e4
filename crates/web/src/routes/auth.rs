//! `/api/auth/*` except passkeys and the vault.

use crate::app::App;
use crate::body::{JsonBody, Requester};
use crate::respond::{Refusal, json, outcome};
use axum::extract::{Path, State};
use axum::response::Response;
use gatehouse_auth::api::{
    ConfirmRequest, CreateApiKeyRequest, EmptyRequest, EndSessionRequest, LoginRequest,
    PasswordChangeRequest, RevokeApiKeyRequest, SetupRequest,
};
use gatehouse_domain::{ApiKeyId, AuthSessionId};

type Answer = Result<Response, Refusal>;

pub(super) async fn status(State(app): State<App>, requester: Requester) -> Response {
    json(
        &app.auth()
            .status(&requester.context, requester.page().as_deref()),
    )
}

pub(super) async fn setup(
    State(app): State<App>,
    requester: Requester,
    JsonBody(request): JsonBody<SetupRequest>,
) -> Answer {
    outcome(app.auth().setup(&requester.caller(), request).await?)
}

pub(super) async fn login(
    State(app): State<App>,
    requester: Requester,
    JsonBody(request): JsonBody<LoginRequest>,
) -> Answer {
    outcome(app.auth().login(&requester.caller(), request).await?)
}

pub(super) async fn logout(
    State(app): State<App>,
    requester: Requester,
    JsonBody(EmptyRequest {}): JsonBody<EmptyRequest>,
) -> Answer {
    outcome(app.auth().logout(&requester.caller()).await?)
}

pub(super) async fn confirm(
    State(app): State<App>,
    requester: Requester,
    JsonBody(request): JsonBody<ConfirmRequest>,
) -> Answer {
    Ok(json(
        &app.auth().confirm(&requester.caller(), request).await?,
    ))
}

pub(super) async fn change_password(
    State(app): State<App>,
    requester: Requester,
    JsonBody(request): JsonBody<PasswordChangeRequest>,
) -> Answer {
    outcome(
        app.auth()
            .change_password(&requester.caller(), request)
            .await?,
    )
}

pub(super) async fn list_sessions(State(app): State<App>, requester: Requester) -> Answer {
    Ok(json(&app.auth().list_sessions(&requester.caller()).await?))
}

pub(super) async fn end_session(
    State(app): State<App>,
    requester: Requester,
    Path(id): Path<AuthSessionId>,
    JsonBody(request): JsonBody<EndSessionRequest>,
) -> Answer {
    outcome(
        app.auth()
            .end_session(&requester.caller(), &id, &request)
            .await?,
    )
}

pub(super) async fn end_other_sessions(
    State(app): State<App>,
    requester: Requester,
    JsonBody(request): JsonBody<EndSessionRequest>,
) -> Answer {
    Ok(json(
        &app.auth()
            .end_other_sessions(&requester.caller(), &request)
            .await?,
    ))
}

pub(super) async fn list_api_keys(State(app): State<App>, requester: Requester) -> Answer {
    Ok(json(&app.auth().list_api_keys(&requester.caller()).await?))
}

pub(super) async fn create_api_key(
    State(app): State<App>,
    requester: Requester,
    JsonBody(request): JsonBody<CreateApiKeyRequest>,
) -> Answer {
    Ok(json(
        &app.auth()
            .create_api_key(&requester.caller(), request)
            .await?,
    ))
}

pub(super) async fn delete_api_key(
    State(app): State<App>,
    requester: Requester,
    Path(id): Path<ApiKeyId>,
    JsonBody(request): JsonBody<RevokeApiKeyRequest>,
) -> Answer {
    Ok(json(
        &app.auth()
            .delete_api_key(&requester.caller(), &id, request.keep_children)
            .await?,
    ))
}

pub(super) async fn reset(
    State(app): State<App>,
    requester: Requester,
    JsonBody(EmptyRequest {}): JsonBody<EmptyRequest>,
) -> Answer {
    outcome(app.auth().reset(&requester.caller()).await?)
}
