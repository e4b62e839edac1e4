//! Determines a request's rate limit from its method and path.

use http::{HeaderMap, Method, header};

/// Groups of requests that are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThrottleClass {
    /// `POST /api/auth/login`.
    Login,
    /// Any other `/api/auth/*`.
    Auth,
    /// Any other `/api`, `/api/*`, `/v1/*`, `/mcp`, `/mcp/*`, and `/metrics`.
    Api,
    /// `/share/*` and `/approve/*`.
    Share,
    /// `/ws`, `/ws/*`, and any other upgrade request.
    WebSocket,
    /// A wrong `connect` message on a WebSocket. [`class_of`] never returns this class.
    Connect,
    /// A database lookup of a credential that is not in memory, or a request to `/health`, by a request without a
    /// rate limit. [`class_of`] never returns this class.
    LookUp,
}

impl ThrottleClass {
    /// Every class, in the order of the documented table.
    pub const ALL: [Self; 7] = [
        Self::Login,
        Self::Auth,
        Self::Api,
        Self::Share,
        Self::WebSocket,
        Self::Connect,
        Self::LookUp,
    ];

    /// Returns the number of requests admitted per client in any 60 seconds.
    pub const fn limit(self) -> u32 {
        match self {
            Self::Login | Self::Connect => 5,
            Self::Auth | Self::LookUp => 120,
            Self::Api => 180,
            Self::Share => 90,
            Self::WebSocket => 30,
        }
    }

    /// Returns the name in logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Auth => "auth",
            Self::Api => "api",
            Self::Share => "share",
            Self::WebSocket => "websocket",
            Self::Connect => "connect",
            Self::LookUp => "look_up",
        }
    }
}

/// Returns the class of a request. Returns `None` for requests that are not throttled here: pages, and webhook
/// ingest, which has its own limits. The path takes precedence over the upgrade, so an Upgrade header cannot move a
/// login to a wider limit.
pub fn class_of(method: &Method, path: &str, is_upgrade: bool) -> Option<ThrottleClass> {
    if is_ingest(method, path) {
        return None;
    }
    let class = if path == "/api/auth/login" && method == Method::POST {
        ThrottleClass::Login
    } else if path.starts_with("/api/auth/") {
        ThrottleClass::Auth
    } else if ["/api", "/mcp", "/metrics"].contains(&path)
        || ["/api/", "/v1/", "/mcp/"]
            .iter()
            .any(|prefix| path.starts_with(prefix))
    {
        ThrottleClass::Api
    } else if path.starts_with("/share/") || path.starts_with("/approve/") {
        ThrottleClass::Share
    } else if is_upgrade || path == "/ws" || path.starts_with("/ws/") {
        ThrottleClass::WebSocket
    } else {
        return None;
    };
    Some(class)
}

/// Returns whether the request is `POST /api/webhooks/ingest/*`. This path is public, because each webhook
/// authenticates its own requests.
pub fn is_ingest(method: &Method, path: &str) -> bool {
    method == Method::POST && path.starts_with("/api/webhooks/ingest/")
}

/// Returns whether a request asks for a WebSocket: `Upgrade: websocket` (HTTP/1.1, RFC 6455) or CONNECT (HTTP/2,
/// RFC 8441).
pub(crate) fn asks_to_upgrade(method: &Method, headers: &HeaderMap) -> bool {
    let names_it = |line: &http::HeaderValue| {
        let mut words = line.as_bytes().split(|byte| *byte == b',');
        words.any(|word| word.trim_ascii().eq_ignore_ascii_case(b"websocket"))
    };
    method == Method::CONNECT || headers.get_all(header::UPGRADE).iter().any(names_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn each_path_has_its_class() {
        use ThrottleClass::{Api, Auth, Login, Share, WebSocket};
        let cases = [
            ("POST", "/api/auth/login", Some(Login)),
            ("GET", "/api/auth/login", Some(Auth)),
            ("POST", "/api/auth/login/", Some(Auth)),
            ("GET", "/api/auth/status", Some(Auth)),
            ("POST", "/api/auth/setup", Some(Auth)),
            ("GET", "/api", Some(Api)),
            ("GET", "/api/", Some(Api)),
            ("GET", "/api/authority", Some(Api)),
            ("GET", "/v1/models", Some(Api)),
            ("GET", "/metrics", Some(Api)),
            ("POST", "/mcp", Some(Api)),
            ("GET", "/mcp/x", Some(Api)),
            ("GET", "/api/webhooks/ingest/abc", Some(Api)),
            ("POST", "/api/webhooks/ingest", Some(Api)),
            ("POST", "/api/webhooks/ingest/abc", None),
            ("GET", "/share/abc", Some(Share)),
            ("GET", "/ws", Some(WebSocket)),
            ("GET", "/ws/chat", Some(WebSocket)),
            ("GET", "/ws/talk", Some(WebSocket)),
            ("GET", "/", None),
            ("GET", "/health", None),
            ("GET", "/share", None),
            ("GET", "/wsx", None),
            ("GET", "/apix", None),
            ("GET", "/mcpx", None),
            ("GET", "/v1", None),
            ("GET", "/metrics/x", None),
        ];
        for (method, path, class) in cases {
            let method: Method = method.parse().unwrap();
            assert_eq!(class_of(&method, path, false), class, "{method} {path}");
            let ingest = is_ingest(&method, path);
            let upgraded = if ingest {
                None
            } else {
                class.or(Some(WebSocket))
            };
            assert_eq!(
                class_of(&method, path, true),
                upgraded,
                "{method} {path} upgrading"
            );
        }
    }

    #[test]
    fn a_websocket_is_asked_for_by_upgrade_or_connect() {
        let asks = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("upgrade", HeaderValue::from_static(value));
            asks_to_upgrade(&Method::GET, &headers)
        };
        assert!(asks("websocket") && asks("WebSocket") && asks("h2c, websocket"));
        assert!(!asks("h2c") && !asks("") && !asks("websockets"));
        assert!(asks_to_upgrade(&Method::CONNECT, &HeaderMap::new()));
        assert!(!asks_to_upgrade(&Method::GET, &HeaderMap::new()));
    }
}
