//! Classifies paths by the form that a refusal takes.

/// The class of a path, which determines the form of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathClass {
    /// Refused with 401 and JSON.
    Api,
    /// Refused with 401 before the upgrade.
    WebSocket,
    /// Refused with the login page or a redirect to onboarding.
    Page,
}

/// Returns the class of a path. Every upgrade request counts as WebSocket.
pub fn path_class(path: &str, is_upgrade: bool) -> PathClass {
    let is_under = |prefix: &str| {
        path.strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if is_upgrade || is_under("/ws") {
        PathClass::WebSocket
    } else if is_under("/api") || is_under("/mcp") || path.starts_with("/v1/") || path == "/metrics"
    {
        PathClass::Api
    } else {
        PathClass::Page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_its_class() {
        for (path, expected) in [
            ("/", PathClass::Page),
            ("/api", PathClass::Api),
            ("/api/x", PathClass::Api),
            ("/apis", PathClass::Page),
            ("/v1", PathClass::Page),
            ("/v1/models", PathClass::Api),
            ("/mcp", PathClass::Api),
            ("/mcp/x", PathClass::Api),
            ("/mcpx", PathClass::Page),
            ("/metrics", PathClass::Api),
            ("/metrics/x", PathClass::Page),
            ("/ws", PathClass::WebSocket),
            ("/ws/chat", PathClass::WebSocket),
            ("/ws/talk", PathClass::WebSocket),
            ("/wsx", PathClass::Page),
        ] {
            assert_eq!(path_class(path, false), expected, "{path}");
            assert_eq!(path_class(path, true), PathClass::WebSocket, "{path}");
        }
    }
}
