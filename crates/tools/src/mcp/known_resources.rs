//! The resources that a server listed. They decide the effect of reading a resource.

use super::offers::McpResource;
use gatehouse_agents::Effect;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

/// The URIs that a server listed last.
#[derive(Debug, Default)]
pub(super) struct KnownResources(RwLock<BTreeSet<String>>);

impl KnownResources {
    pub(super) fn replace(&self, resources: &[McpResource]) {
        let plain = resources.iter().filter(|resource| !resource.is_template);
        let uris = plain.map(|resource| resource.uri.clone()).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = uris;
    }

    /// Returns the effect of reading a URI. A URI that the server listed reveals nothing to the server. Any other URI
    /// was written by a model and may contain private data.
    pub(super) fn effect_of_read(&self, input: &Value, has_private: bool) -> Effect {
        let uri = input.get("uri").and_then(Value::as_str).unwrap_or_default();
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if has_private && !known.contains(uri) {
            Effect::Reveal
        } else {
            Effect::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resource(uri: &str) -> McpResource {
        McpResource {
            uri: uri.to_owned(),
            is_template: uri.contains('{'),
            name: "n".to_owned(),
            title: None,
            description: None,
            media_type: None,
            size: None,
        }
    }

    #[test]
    fn a_uri_that_the_server_did_not_list_can_reveal_private_data() {
        let known = KnownResources::default();
        known.replace(&[resource("file:///a"), resource("file:///{b}")]);
        let effect =
            |uri: &str, has_private| known.effect_of_read(&json!({ "uri": uri }), has_private);
        assert_eq!(effect("file:///a", true), Effect::None);
        assert_eq!(effect("file:///secret", false), Effect::None);
        assert_eq!(effect("file:///secret", true), Effect::Reveal);
        assert_eq!(effect("file:///{b}", true), Effect::Reveal);
        known.replace(&[]);
        assert_eq!(effect("file:///a", true), Effect::Reveal);
    }
}
