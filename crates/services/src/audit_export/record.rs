//! A row as a line of JSON.

use gatehouse_domain::Timestamp;
use gatehouse_store::AuditRow;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The beginning of every record.
pub(super) const START: &str = "{\"seq\":";

/// The members of `audit.list`, with the position and the hashes of the chain.
#[derive(Serialize)]
struct Record<'a> {
    seq: i64,
    id: &'a str,
    at: Timestamp,
    kind: &'a str,
    actor: &'a str,
    client_ip: Option<&'a str>,
    detail: Value,
    /// Whether the detail was too long for the copy.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    detail_omitted: bool,
    prev_hash: &'a str,
    hash: &'a str,
}

/// Identifies a record.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct RecordKey {
    pub(super) seq: i64,
    pub(super) hash: String,
}

impl RecordKey {
    pub(super) fn is_of(&self, row: &AuditRow) -> bool {
        self.seq == row.seq && self.hash == row.hash
    }
}

fn text(row: &AuditRow, detail: Value, detail_omitted: bool) -> String {
    let record = Record {
        seq: row.seq,
        id: &row.id,
        at: row.at,
        kind: &row.kind,
        actor: &row.actor,
        client_ip: row.client_ip.as_deref(),
        detail,
        detail_omitted,
        prev_hash: &row.prev_hash,
        hash: &row.hash,
    };
    // The record contains only texts, numbers and JSON values, so serializing it cannot fail.
    serde_json::to_string(&record).unwrap_or_default()
}

/// Returns the record, without a line break.
pub(super) fn line(row: &AuditRow) -> String {
    let detail = serde_json::from_str(&row.detail);
    text(row, detail.unwrap_or(Value::Null), false)
}

/// Like [`line`], but without the detail if the record is longer than `max_bytes`.
pub(super) fn short_line(row: &AuditRow, max_bytes: usize) -> String {
    let whole = line(row);
    if whole.len() <= max_bytes {
        return whole;
    }
    text(row, Value::Null, true)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn row(seq: i64, detail: &str) -> AuditRow {
        let mut row = AuditRow {
            seq,
            id: format!("evt_{seq}"),
            at: Timestamp::from_millis(1_800_000_000_123),
            kind: "login.succeeded".to_owned(),
            actor: "session a".to_owned(),
            client_ip: None,
            detail: detail.to_owned(),
            prev_hash: "before".to_owned(),
            hash: String::new(),
        };
        row.hash = row.expected_hash();
        row
    }

    #[test]
    fn a_line_has_all_that_the_hash_covers() {
        let row = row(7, r#"{"z":1,"a":["two\nlines"]}"#);
        let line = line(&row);
        let hash = &row.hash;
        assert_eq!(
            line,
            format!(
                "{START}7,\"id\":\"evt_7\",\"at\":\"2027-01-15T08:00:00.123Z\",\"kind\":\"login.succeeded\",\
                 \"actor\":\"session a\",\"client_ip\":null,\"detail\":{{\"z\":1,\"a\":[\"two\\nlines\"]}},\
                 \"prev_hash\":\"before\",\"hash\":\"{hash}\"}}"
            )
        );
        let place: RecordKey = serde_json::from_str(&line).unwrap();
        assert!(place.is_of(&row));
        assert!(!place.is_of(&self::row(7, "{}")));
    }

    #[test]
    fn a_detail_that_is_too_long_is_left_out() {
        let row = row(
            1,
            &serde_json::json!({ "names": "x".repeat(500) }).to_string(),
        );
        let whole = line(&row);
        assert_eq!(short_line(&row, whole.len()), whole);
        let short = short_line(&row, whole.len() - 1);
        assert!(short.len() < 400);
        let short: Value = serde_json::from_str(&short).unwrap();
        assert_eq!(
            (&short["detail"], &short["detail_omitted"]),
            (&Value::Null, &Value::Bool(true))
        );
    }
}
