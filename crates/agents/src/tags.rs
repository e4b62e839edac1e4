//! Tags of sessions: reading, checking and counting them.

use crate::error::AgentsError;
use crate::handle::Agents;
use crate::line::is_line;
use gatehouse_store::{TaggedChatSessions, lower_case};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of tags per session.
const MAX_TAGS: usize = 10;

/// The longest tag.
const MAX_TAG_CHARACTERS: usize = 40;

/// A tag and the number of sessions with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagCount {
    pub tag: String,
    /// How many sessions have it, including archived ones.
    pub sessions: u64,
}

/// Returns the tags of a stored session.
pub(crate) fn tags_of(stored: &str) -> impl Iterator<Item = &str> {
    stored.split('\n').filter(|tag| !tag.is_empty())
}

/// Validates tags and returns them in their stored form. Tags that differ only in case are one tag; the first spelling
/// is kept.
pub(crate) fn stored_tags(tags: &[String]) -> Result<String, AgentsError> {
    let mut kept: Vec<&str> = Vec::new();
    for tag in tags {
        let tag = tag.trim();
        if !is_line(tag, MAX_TAG_CHARACTERS) || tag.contains(',') {
            let reason =
                format!("each is one line of 1 to {MAX_TAG_CHARACTERS} characters without a comma");
            return Err(AgentsError::invalid("tags", reason));
        }
        if !kept
            .iter()
            .any(|known| lower_case(known) == lower_case(tag))
        {
            kept.push(tag);
        }
    }
    if kept.len() > MAX_TAGS {
        return Err(AgentsError::invalid(
            "tags",
            format!("at most {MAX_TAGS} tags"),
        ));
    }
    if kept.is_empty() {
        return Ok(String::new());
    }
    Ok(format!("\n{}\n", kept.join("\n")))
}

impl Agents {
    /// Returns all tags, in alphabetical order. Spellings that differ only in the case of letters count as one tag.
    pub async fn list_tags(&self) -> Result<Vec<TagCount>, AgentsError> {
        let read = self
            .0
            .store
            .read(|conn| Box::pin(async move { conn.count_chat_session_tags().await }));
        let rows: Vec<TaggedChatSessions> = read.await?;
        Ok(count(&rows))
    }
}

/// Adds up how many sessions have each tag.
fn count(rows: &[TaggedChatSessions]) -> Vec<TagCount> {
    let mut counts: BTreeMap<String, TagCount> = BTreeMap::new();
    for row in rows {
        let sessions = u64::try_from(row.sessions).unwrap_or(0);
        for tag in tags_of(&row.tags) {
            let entry = counts.entry(lower_case(tag)).or_insert_with(|| TagCount {
                tag: tag.to_owned(),
                sessions: 0,
            });
            entry.sessions = entry.sessions.saturating_add(sessions);
        }
    }
    counts.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tags: &[&str]) -> Result<String, AgentsError> {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        stored_tags(&tags)
    }

    #[test]
    fn tags_have_limits() {
        let longest = "ü".repeat(MAX_TAG_CHARACTERS);
        assert_eq!(check(&[&longest]).unwrap(), format!("\n{longest}\n"));
        assert!(check(&[&format!("{longest}ü")]).is_err());
        assert!(check(&[" "]).is_err());
        assert!(check(&["two\nlines"]).is_err());
        assert!(check(&["a,b"]).is_err());
        let many: Vec<String> = (0..=MAX_TAGS).map(|at| at.to_string()).collect();
        assert!(stored_tags(&many[1..]).is_ok());
        assert!(stored_tags(&many).is_err());
    }

    #[test]
    fn spellings_of_a_tag_are_one_tag() {
        assert_eq!(
            check(&["Büro", " büro ", "Home"]).unwrap(),
            "\nBüro\nHome\n"
        );
        assert_eq!(check(&[]).unwrap(), "");
        let row = |tags: &str, sessions| TaggedChatSessions {
            tags: tags.to_owned(),
            sessions,
        };
        let rows = [row("\nBüro\nHome\n", 2), row("\nBÜRO\n", 1)];
        let counts = count(&rows);
        let named: Vec<_> = counts
            .iter()
            .map(|c| (c.tag.as_str(), c.sessions))
            .collect();
        assert_eq!(named, [("Büro", 3), ("Home", 2)]);
    }
}
