//! The paths that need no authentication even when credentials exist. This applies only to the gate: routes
//! below `/api/auth` that need an identity declare that in the route table.

use http::{Method, Uri};

/// Prefixes of public paths. Programs request `/.well-known/` (RFC 8615), and must get a 404 for a missing path, not a
/// page.
const PREFIXES: [&str; 4] = ["/api/auth/", "/assets/", "/icons/", "/.well-known/"];
const INGEST: &str = "/api/webhooks/ingest/";
const PATHS: [&str; 11] = [
    "/health",
    "/health/live",
    "/health/ready",
    "/livez",
    "/readyz",
    "/healthz",
    "/auth/callback",
    "/manifest.json",
    "/sw.js",
    "/ws",
    "/favicon.ico",
];

/// Returns whether the path is public.
pub fn is_public(method: &Method, path: &str) -> bool {
    let reads = method == Method::GET || method == Method::HEAD;
    PATHS.contains(&path)
        || PREFIXES.iter().any(|prefix| path.starts_with(prefix))
        // The browser sends no cookie with a redirect from another site. This page is therefore public and reloads
        // itself.
        || (method == Method::GET && path.starts_with("/auth/callback/"))
        // The unguessable ID is the credential.
        || (reads && path.starts_with("/share/"))
        // If `approvals.links` is `bearer`, the link's token is the credential. Otherwise the web UI requires a login.
        || ((reads || method == Method::POST) && path.starts_with("/approve/"))
        // Each webhook authenticates its senders itself.
        || (method == Method::POST && path.starts_with(INGEST))
}

/// Returns whether a hub verifies the URL of a webhook. The hub authenticates with the webhook's verify token in the
/// query.
pub fn is_hub_check(method: &Method, uri: &Uri) -> bool {
    method == Method::GET
        && uri.path().starts_with(INGEST)
        && uri
            .query()
            .is_some_and(|query| query.contains("hub.verify_token="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_paths_are_public() {
        let open = |method, path| is_public(&method, path);
        for path in [
            "/health",
            "/health/live",
            "/readyz",
            "/api/auth/status",
            "/assets/a.js",
            "/ws",
            "/sw.js",
            "/share/x",
            "/approve/x",
            "/.well-known/security.txt",
            "/auth/callback/x",
        ] {
            assert!(open(Method::GET, path), "{path}");
        }
        for path in [
            "/",
            "/health/",
            "/healthz/",
            "/health/livez",
            "/api",
            "/api/gon",
            "/api/auth",
            "/api/authx",
            "/ws/chat",
            "/ws/talk",
            "/ws/",
            "/assets",
            "/metrics",
            "/share",
            "/approve",
            "/onboarding",
            "/.well-known",
            "/x/.well-known/x",
        ] {
            assert!(!open(Method::GET, path), "{path}");
        }
        assert!(open(Method::POST, "/api/webhooks/ingest/wh_x"));
        assert!(!open(Method::GET, "/api/webhooks/ingest/wh_x"));
        assert!(!open(Method::POST, "/share/x"));
        assert!(!open(Method::POST, "/auth/callback/x") && !open(Method::HEAD, "/auth/callback/x"));
        let hub = |method, uri| is_hub_check(&method, &Uri::from_static(uri));
        let asked = "/api/webhooks/ingest/wh_x?hub.mode=subscribe&hub.verify_token=t";
        assert!(hub(Method::GET, asked) && !hub(Method::PUT, asked));
        assert!(!hub(Method::GET, "/api/webhooks/ingest/wh_x"));
        assert!(!hub(Method::GET, "/api/env?hub.verify_token=t"));
        assert!(open(Method::POST, "/approve/x") && !open(Method::DELETE, "/approve/x"));
    }
}
