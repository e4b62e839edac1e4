//! The closed list of error codes. HTTP status, RPC number and socket close code derive from it,
//! and so does the table in docs/API.md.

use serde::{Deserialize, Serialize};

macro_rules! error_codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $http:literal, $rpc:literal;)+) => {
        /// Why a request was refused or failed, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the documented table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The HTTP status that carries it.
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$variant => $http,)+ }
            }

            /// The JSON-RPC error number.
            pub const fn rpc_code(self) -> i32 {
                match self { $(Self::$variant => $rpc,)+ }
            }

            /// What it means, one line for the documents.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+),)+ }
            }
        }
    };
}

error_codes! {
    /// The body or frame is not JSON.
    ParseError = "PARSE_ERROR", 400, -32700;
    /// The request is malformed before its content is looked at.
    InvalidRequest = "INVALID_REQUEST", 400, -32600;
    /// There is no such RPC method.
    MethodNotFound = "METHOD_NOT_FOUND", 404, -32601;
    /// The path exists, but not for this HTTP method.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405, -32017;
    /// A field is missing, unknown, of the wrong type or out of range.
    InvalidParams = "INVALID_PARAMS", 400, -32602;
    /// A fault of ours; the log has more under the same request id.
    Internal = "INTERNAL", 500, -32603;
    /// No valid credential came with the request.
    NotAuthenticated = "AUTH_NOT_AUTHENTICATED", 401, -32001;
    /// Setup is not complete, and this connection is not local.
    SetupRequired = "AUTH_SETUP_REQUIRED", 401, -32002;
    /// The password, passkey or signature is wrong.
    InvalidCredentials = "INVALID_CREDENTIALS", 401, -32003;
    /// Recognised, but not allowed to do this.
    Forbidden = "FORBIDDEN", 403, -32004;
    /// There is no such thing.
    NotFound = "NOT_FOUND", 404, -32005;
    /// The state does not allow it, or it exists already.
    Conflict = "CONFLICT", 409, -32006;
    /// The body or frame is over its limit.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", 413, -32007;
    /// The body is not of a content type that is understood here.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415, -32008;
    /// The vault is sealed.
    VaultSealed = "VAULT_SEALED", 423, -32009;
    /// The password or recovery key does not open the vault.
    VaultBadKey = "VAULT_BAD_KEY", 423, -32010;
    /// Too many requests; try again after the time given.
    RateLimited = "RATE_LIMITED", 429, -32011;
    /// Something that is needed has not been set up.
    NotConfigured = "NOT_CONFIGURED", 503, -32012;
    /// A provider outside failed.
    ProviderFailed = "PROVIDER_FAILED", 502, -32013;
    /// It took too long.
    Timeout = "TIMEOUT", 504, -32014;
    /// A recent confirmation of the password or a passkey is needed.
    ConfirmationRequired = "CONFIRMATION_REQUIRED", 403, -32015;
    /// The database cannot be written or read right now.
    StorageUnavailable = "STORAGE_UNAVAILABLE", 503, -32016;
}

impl ErrorCode {
    /// The WebSocket close code for a connection that ends because of this error.
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
        assert_eq!(names.len(), 22);
        assert_eq!(numbers.len(), 22);
    }

    #[test]
    fn a_code_is_its_name_in_json() {
        let json = serde_json::to_string(&ErrorCode::VaultSealed).unwrap();
        assert_eq!(json, "\"VAULT_SEALED\"");
    }
}
