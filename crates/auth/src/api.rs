//! Request and response types for HTTP bodies, RPC params and their schemas. Requests contain
//! secrets and implement neither `Clone` nor `Debug`.

mod answers;
mod requests;

pub use answers::{
    ApiKeyCreated, ApiKeyItem, ApiKeyList, AuditEvent, AuditList, AuthStatus, ConfirmAnswer,
    Device, DeviceList, DevicePaired, Done, EndedAnswer, KeyPreset, ResetAnswer, SessionItem,
    SessionList, SetupAnswer, VaultAnswer, VaultDisableAnswer, VaultDisableReport,
    VaultRecoveryKeyAnswer, VaultStatusAnswer,
};
pub use requests::{
    ConfirmRequest, ConnectAuth, CreateApiKeyRequest, EmptyRequest, EndSessionRequest,
    LoginRequest, PairDeviceRequest, PasswordChangeRequest, RevokeApiKeyRequest, SetupRequest,
    VaultOptionalPassword, VaultPassword, VaultRecovery,
};

use gatehouse_domain::Timestamp;

/// Which events to list.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only events of this kind.
    pub kind: Option<String>,
    /// Only events by this actor, as in the field `actor` of an event.
    pub actor: Option<String>,
    /// Start of the period, inclusive.
    pub from: Option<Timestamp>,
    /// End of the period, exclusive.
    pub until: Option<Timestamp>,
}
