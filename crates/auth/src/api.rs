//! Request and response types for HTTP bodies, RPC params and their schemas. Requests contain
//! secrets and implement neither `Clone` nor `Debug`.

mod answers;
mod requests;

pub use crate::audit::AuditFilter;
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
