//! The members of a room
//! (<https://spec.matrix.org/latest/client-server-api/#get_matrixclientv3roomsroomidjoined_members>).

use super::NOUN;
use super::client_api::{not_matrix, request};
use crate::error::Failure;
use crate::receivers::Source;
use crate::vendor::{Limits, call_within};
use reqwest::Method;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::Duration;

/// The limits of an answer. A room of ten thousand members has about two megabytes.
const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(10),
    bytes: 8 * 1024 * 1024,
};

#[derive(Debug, Deserialize)]
pub(super) struct Members {
    pub(super) joined: BTreeMap<String, Box<RawValue>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Member {
    pub(super) display_name: Option<String>,
}

/// Returns the members of a room, or `None` if the bot is not a member.
pub(super) async fn members(source: Source<'_>, room: &str) -> Result<Option<Members>, Failure> {
    let request = request(source, Method::GET, &["rooms", room, "joined_members"])?;
    let inner = source.inner;
    let answer = call_within(&inner.outbound, &*inner.clock, NOUN, request, LIMITS).await?;
    if matches!(answer.status.as_u16(), 403 | 404) {
        return Ok(None);
    }
    let after = answer.response_json().milliseconds("/retry_after_ms");
    answer.check(NOUN, after)?;
    answer.parse().map(Some).ok_or_else(not_matrix)
}

/// Returns whether the person and the bot are the only members.
pub(super) async fn is_private(
    source: Source<'_>,
    room: &str,
    person: &str,
) -> Result<bool, Failure> {
    let members = members(source, room).await?;
    Ok(members.is_some_and(|it| it.joined.len() == 2 && it.joined.contains_key(person)))
}

/// Returns the only member of a room besides the bot, if there is one.
pub(super) async fn other_member(
    source: Source<'_>,
    room: &str,
    me: &str,
) -> Result<Option<String>, Failure> {
    let members = members(source, room).await?;
    let pair = members.filter(|it| it.joined.len() == 2 && it.joined.contains_key(me));
    Ok(pair.and_then(|it| it.joined.into_keys().find(|user| user != me)))
}
