//! Reads the messages of a room between two responses of `sync` if the later one omits them
//! (<https://spec.matrix.org/latest/client-server-api/#get_matrixclientv3roomsroomidmessages>).

use super::super::Source;
use super::client_api::{check, not_matrix, request};
use super::events::{Gap, RoomEvent, read_all};
use super::{LIMITS, NOUN, TIMELINE};
use crate::receive::ReceiveError;
use crate::vendor::call_within;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::time::Duration;

/// The maximum number of pages of a gap. Older messages are skipped.
const PAGES: u32 = 10;
/// The time limit for reading a gap. It must end before another node may take over the account.
const LIMIT: Duration = Duration::from_secs(40);
const EVENTS: &str = "50";

#[derive(Debug, Deserialize)]
struct Page {
    #[serde(default)]
    chunk: Vec<Box<RawValue>>,
    /// Absent at the beginning of the room.
    end: Option<String>,
}

/// Returns the messages and reactions of others, oldest first. `since` is the token of the older answer.
pub(super) async fn missed_events(
    source: Source<'_>,
    room: &str,
    gap: Gap,
    since: &str,
    me: &str,
) -> Result<Vec<RoomEvent>, ReceiveError> {
    let begun = source.inner.clock.monotonic_ms();
    let limit_ms = u64::try_from(LIMIT.as_millis()).unwrap_or(u64::MAX);
    let filter = json!({ "types": TIMELINE }).to_string();
    let mut from = gap.from;
    let mut events = Vec::new();
    for page in 1..=PAGES {
        let query = [
            ("dir", "b"),
            ("from", from.as_str()),
            ("to", since),
            ("limit", EVENTS),
            ("filter", filter.as_str()),
        ];
        let request = request(source, Method::GET, &["rooms", room, "messages"])?.query(&query);
        let inner = source.inner;
        let answer = call_within(&inner.outbound, &*inner.clock, NOUN, request, LIMITS).await?;
        if matches!(answer.status.as_u16(), 403 | 404) {
            // The bot has left the room.
            break;
        }
        check(&answer)?;
        let read: Page = answer.parse().ok_or_else(not_matrix)?;
        events.extend(read.chunk);
        match read.end {
            Some(end) if end != since && end != from => from = end,
            _ => break,
        }
        let is_late = inner.clock.monotonic_ms().saturating_sub(begun) >= limit_ms;
        if page == PAGES || is_late {
            tracing::warn!("a Matrix room has too many new messages; the oldest are skipped");
            break;
        }
    }
    events.reverse();
    Ok(read_all(&events, me))
}
