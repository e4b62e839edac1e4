//! What an event is about, as a key that later events about the same thing share. Owns how a profile's
//! rules are applied; the rules themselves are data of the profiles.

use crate::clean;
use crate::event::MAX_VALUE_CHARS;
use crate::payload::Node;
use crate::profile::Profile;

/// The key by the profile's first rule that applies.
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

/// Puts values of the body in place of `{paths}`; none, if one of them has no text and no number.
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
