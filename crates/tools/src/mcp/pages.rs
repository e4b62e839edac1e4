//! Reads the lists of a server, page by page.

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, CustomResult, PaginatedRequestParams, ServerResult};
use rmcp::service::Peer;
use serde_json::Value;

/// Limit on the pages of a list.
const MAX_PAGES: usize = 50;

/// The first `max` entries of a list, and whether there are more. `field` contains the entries of a page. They stay in
/// their wire format, because the library's types would reject the whole page for one invalid entry.
pub(super) async fn entries(
    peer: &Peer<RoleClient>,
    (field, max): (&str, usize),
    request: impl Fn(PaginatedRequestParams) -> ClientRequest,
) -> Result<(Vec<Value>, bool), String> {
    let (mut entries, mut cursor) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let asked = request(PaginatedRequestParams::default().with_cursor(cursor));
        let mut page = page(peer, asked).await?;
        let Some(Value::Array(listed)) = page.get_mut(field).map(Value::take) else {
            return Err(format!("the response has no list `{field}`"));
        };
        entries.extend(listed);
        let next = page.get("nextCursor").and_then(Value::as_str);
        cursor = next.filter(|next| !next.is_empty()).map(str::to_owned);
        if cursor.is_none() || entries.len() > max {
            break;
        }
    }
    let has_more = entries.len() > max || cursor.is_some();
    entries.truncate(max);
    Ok((entries, has_more))
}

async fn page(peer: &Peer<RoleClient>, request: ClientRequest) -> Result<Value, String> {
    let answer = peer.send_request(request).await;
    let read = match answer.map_err(|error| error.to_string())? {
        ServerResult::CustomResult(CustomResult(value)) => Ok(value),
        known => serde_json::to_value(known),
    };
    read.map_err(|error| error.to_string())
}
