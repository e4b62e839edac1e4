//! Joins of rooms
//! (<https://spec.matrix.org/latest/client-server-api/#post_matrixclientv3roomsroomidjoin>).

use super::{BOT, Matrix, Shared, is_bot, refuse, too_many};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::json;

pub(super) async fn join(
    State(shared): State<Shared>,
    Path(room): Path<String>,
    headers: HeaderMap,
) -> Response {
    assert!(is_bot(&headers));
    let mut home = shared.home.lock().unwrap();
    if let Some(left) = home.limited_joins.checked_sub(1) {
        home.limited_joins = left;
        return too_many();
    }
    if home.refused_joins > 0 {
        home.refused_joins -= 1;
        return refuse(500, "M_UNKNOWN");
    }
    if !home.invited.remove(&room) {
        return refuse(403, "M_FORBIDDEN");
    }
    home.members
        .entry(room.clone())
        .or_default()
        .insert(BOT.to_owned());
    Json(json!({ "room_id": room })).into_response()
}

impl Matrix {
    /// Refuses the next requests to join a room.
    pub fn refuse_joins(&self, count: usize) {
        self.shared.home.lock().unwrap().refused_joins = count;
    }

    /// Makes the next requests to join a room get a rate limit error.
    pub fn limit_joins(&self, count: usize) {
        self.shared.home.lock().unwrap().limited_joins = count;
    }
}
