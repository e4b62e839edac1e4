//! Computes the entity key of an event from the rules of the profile. Events about the same entity have the same
//! key.

use crate::clean::{self, MAX_VALUE_CHARS};
use crate::payload::Node;
use crate::profile::Profile;

/// Returns the key from the profile's first rule that matches and whose values all exist.
pub(crate) fn key(profile: &Profile, event_type: Option<&str>, body: Node<'_>) -> Option<String> {
    profile
        .entities
        .iter()
        .filter(|rule| {
            rule.when
                .iter()
                .all(|condition| condition.holds(event_type, body))
        })
        .find_map(|rule| fill(rule.key, body))
}

/// Replaces each `{path}` with its value from the body. Returns `None` if a value is missing or is neither
/// text nor a number.
fn fill(template: &str, body: Node<'_>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (path, after) = after.split_once('}')?;
        filled.push_str(before);
        filled.push_str(&clean::key(&body.at(path)?.as_id()?, MAX_VALUE_CHARS)?);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}
