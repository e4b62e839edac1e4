//! The closed list of error codes. The HTTP status, the RPC number, the WebSocket close code and the table in
//! `docs/generated/error-codes.md` derive from it.

use serde::{Deserialize, Serialize};

macro_rules! error_codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $http:literal, $rpc:literal;)+) => {
        /// The machine-readable reason why a request was refused or failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the documented table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the name in responses.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            pub const fn http_status(self) -> u16 {
                match self { $(Self::$variant => $http,)+ }
            }

            /// Returns the JSON-RPC error number.
            pub const fn rpc_code(self) -> i32 {
                match self { $(Self::$variant => $rpc,)+ }
            }

            /// Returns the one-line description for the documentation.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+),)+ }
            }
        }
    };
}

error_codes! {
    /// The body or frame is not valid JSON.
    ParseError = "PARSE_ERROR", 400, -32700;
    /// The request is malformed.
    InvalidRequest = "INVALID_REQUEST", 400, -32600;
    /// The RPC method does not exist.
    MethodNotFound = "METHOD_NOT_FOUND", 404, -32601;
    /// The path does not support this HTTP method.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405, -32017;
    /// A field is missing, unknown, of the wrong type or out of range.
    InvalidParams = "INVALID_PARAMS", 400, -32602;
    /// An internal error; the log has details under the same request ID.
    Internal = "INTERNAL", 500, -32603;
    /// The request has no valid credential.
    NotAuthenticated = "AUTH_NOT_AUTHENTICATED", 401, -32001;
    /// Setup is not complete, and this connection is not local.
    SetupRequired = "AUTH_SETUP_REQUIRED", 401, -32002;
    /// The password, passkey or signature is wrong.
    InvalidCredentials = "INVALID_CREDENTIALS", 401, -32003;
    /// The identity is valid but lacks permission.
    Forbidden = "FORBIDDEN", 403, -32004;
    /// The resource does not exist.
    NotFound = "NOT_FOUND", 404, -32005;
    /// The current state does not allow this, or the resource already exists.
    Conflict = "CONFLICT", 409, -32006;
    /// The body or frame exceeds its limit.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", 413, -32007;
    /// The endpoint does not support the body's content type.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415, -32008;
    /// The vault is sealed.
    VaultSealed = "VAULT_SEALED", 423, -32009;
    /// The password or recovery key does not unlock the vault.
    VaultBadKey = "VAULT_BAD_KEY", 423, -32010;
    /// Too many requests; retry after the given time.
    RateLimited = "RATE_LIMITED", 429, -32011;
    /// A required feature or service is not configured.
    NotConfigured = "NOT_CONFIGURED", 503, -32012;
    /// An external provider failed.
    ProviderFailed = "PROVIDER_FAILED", 502, -32013;
    /// The operation timed out.
    Timeout = "TIMEOUT", 504, -32014;
    /// This needs a recent confirmation with the password or a passkey.
    ConfirmationRequired = "CONFIRMATION_REQUIRED", 403, -32015;
    /// The database is currently unavailable.
    StorageUnavailable = "STORAGE_UNAVAILABLE", 503, -32016;
    /// A budget for model calls is used up until it resets or is raised.
    BudgetExhausted = "BUDGET_EXHAUSTED", 402, -32018;
}

impl ErrorCode {
    /// Returns the WebSocket close code for a connection that ends with this error.
    pub const fn close_code(self) -> u16 {
        match self {
            Self::NotAuthenticated | Self::SetupRequired | Self::InvalidCredentials => 4401,
            Self::Forbidden | Self::ConfirmationRequired => 4403,
            Self::Timeout => 4408,
            Self::RateLimited => 4429,
            Self::PayloadTooLarge => 1009,
            Self::Internal | Self::StorageUnavailable => 1011,
            _ => 4400,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_and_numbers_are_unique() {
        let names: HashSet<_> = ErrorCode::ALL.iter().map(|c| c.name()).collect();
        let numbers: HashSet<_> = ErrorCode::ALL.iter().map(|c| c.rpc_code()).collect();
        assert_eq!(names.len(), 23);
        assert_eq!(numbers.len(), 23);
    }

    #[test]
    fn a_code_is_its_name_in_json() {
        let json = serde_json::to_string(&ErrorCode::VaultSealed).unwrap();
        assert_eq!(json, "\"VAULT_SEALED\"");
    }
}
