//! Reads the lists of a server, page by page.

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, CustomResult, PaginatedRequestParams, ServerResult};
use rmcp::service::Peer;
use serde_json::Value;
use std::io;

/// Limit on the pages of a list.
const MAX_PAGES: usize = 50;
/// The total size of entries after which no further page is read, in bytes. A page has at most 16
/// MiB.
const MAX_BYTES: usize = 16 << 20;

/// The entries of the pages that were read.
#[derive(Default)]
struct Listed {
    entries: Vec<Value>,
    /// The size of the entries as JSON.
    bytes: usize,
}

impl Listed {
    /// Adds a page. Returns whether the list has room for another one.
    fn add(&mut self, page: Vec<Value>, max: usize) -> bool {
        self.bytes = self.bytes.saturating_add(json_bytes(&page));
        self.entries.extend(page);
        self.entries.len() <= max && self.bytes < MAX_BYTES
    }
}

/// A writer that counts the bytes written to it.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the size as JSON, in bytes.
fn json_bytes(page: &[Value]) -> usize {
    let mut count = Count(0);
    serde_json::to_writer(&mut count, page).map_or(usize::MAX, |()| count.0)
}

/// Returns the first `max` entries of a list, and whether there are more. `field` is the member with the entries of a
/// page. The entries stay in their wire format, because the library's types would reject a whole page for one invalid
/// entry.
pub(super) async fn entries(
    peer: &Peer<RoleClient>,
    (field, max): (&str, usize),
    request: impl Fn(PaginatedRequestParams) -> ClientRequest,
) -> Result<(Vec<Value>, bool), String> {
    let (mut all, mut cursor) = (Listed::default(), None);
    for _ in 0..MAX_PAGES {
        let asked = request(PaginatedRequestParams::default().with_cursor(cursor));
        let mut page = page(peer, asked).await?;
        let Some(Value::Array(listed)) = page.get_mut(field).map(Value::take) else {
            return Err(format!("the response has no list `{field}`"));
        };
        let has_room = all.add(listed, max);
        let next = page.get("nextCursor").and_then(Value::as_str);
        cursor = next.filter(|next| !next.is_empty()).map(str::to_owned);
        if cursor.is_none() || !has_room {
            break;
        }
    }
    let mut entries = all.entries;
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_at_and_past_its_limits() {
        let entry = json!({ "name": "ä" });
        assert_eq!(
            json_bytes(std::slice::from_ref(&entry)),
            "[{\"name\":\"ä\"}]".len()
        );
        let mut list = Listed::default();
        assert!(list.add(vec![entry.clone(); 3], 3));
        assert!(!list.add(vec![entry], 3));
        // The brackets and quotation marks of a page with one text.
        let text = |bytes: usize| vec![json!("x".repeat(bytes - "[\"\"]".len()))];
        let mut list = Listed::default();
        assert!(list.add(text(MAX_BYTES - 100), 9));
        assert!(list.add(text(99), 9));
        assert!(!list.add(text(4), 9));
        assert_eq!(list.entries.len(), 3);
        assert!(!Listed::default().add(text(MAX_BYTES), 9));
    }
}
