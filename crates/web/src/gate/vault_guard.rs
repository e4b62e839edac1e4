//! The vault guard: while the vault is sealed, every API path returns 423, even if it does not
//! exist.

use gatehouse_domain::Problem;
use gatehouse_secrets::Status;
use http::Method;

/// Paths that are available while the vault is sealed, as listed in the specification.
const OPEN_PREFIXES: [&str; 2] = ["/api/auth/", "/api/sessions"];
const OPEN_PATHS: [&str; 2] = ["/api/bootstrap", "/api/gon"];

/// Returns whether the guard applies to this path.
pub fn is_guarded(method: &Method, path: &str) -> bool {
    let is_api = path == "/api"
        || path == "/mcp"
        // Every utterance needs a provider, whose key may be in the vault.
        || path == "/ws/talk"
        || ["/api/", "/v1/", "/mcp/"]
            .iter()
            .any(|prefix| path.starts_with(prefix));
    let is_open = OPEN_PATHS.contains(&path)
        || OPEN_PREFIXES.iter().any(|prefix| path.starts_with(prefix))
        // The ingest handler returns 423 itself, at the right point of its checks.
        || (method == Method::POST && path.starts_with("/api/webhooks/ingest/"));
    is_api && !is_open
}

pub(super) fn check(status: Status, method: &Method, path: &str) -> Result<(), Problem> {
    if status == Status::Sealed && is_guarded(method, path) {
        return Err(Problem::vault_sealed());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_follows_the_specification() {
        let guarded = |path| is_guarded(&Method::GET, path);
        for path in [
            "/api",
            "/api/rpc",
            "/api/nothing",
            "/v1/models",
            "/mcp",
            "/mcp/x",
            "/ws/talk",
            "/api/authx",
            "/api/gonx",
        ] {
            assert!(guarded(path), "{path}");
        }
        for path in [
            "/",
            "/health",
            "/metrics",
            "/assets/x",
            "/api/auth/vault/unlock",
            "/api/bootstrap",
            "/api/gon",
            "/api/sessions",
            "/api/sessions/ses_1/messages",
            "/mcpx",
            "/ws",
            "/ws/chat",
        ] {
            assert!(!guarded(path), "{path}");
        }
        assert!(!is_guarded(&Method::POST, "/api/webhooks/ingest/wh_x"));
        assert!(guarded("/api/webhooks/ingest/wh_x"));
    }

    #[test]
    fn nothing_is_blocked_unless_sealed() {
        for status in [Status::Uninitialized, Status::Unsealed, Status::Disabled] {
            assert!(check(status, &Method::GET, "/api/rpc").is_ok());
        }
        assert!(check(Status::Sealed, &Method::GET, "/api/rpc").is_err());
    }
}
