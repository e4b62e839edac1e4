//! The settings of authentication.

use crate::client_address::ProxyTrust;
use crate::cross_site::{AllowedOrigin, OriginSettings};
use crate::locality::LocalitySettings;
use gatehouse_config::DisabledScope;
use url::Url;

/// The settings of this crate. They may change while the server runs.
#[derive(Clone, Debug)]
pub struct AuthSettings {
    /// `auth.disabled_scope`.
    pub disabled_scope: DisabledScope,
    /// `auth.step_up`: dangerous changes require a recent confirmation.
    pub step_up: bool,
    /// `auth.step_up_for_keys`: API keys and devices are refused operations that require a recent
    /// confirmation.
    pub step_up_for_keys: bool,
    /// `auth.local_setup_code`: a local caller must also send the setup code.
    pub local_setup_code: bool,
    /// `audit.retention_days`: how long rows of the audit log are kept.
    pub audit_retention_days: u32,
    pub locality: LocalitySettings,
    /// The proxies whose headers are trusted.
    pub proxy: ProxyTrust,
    /// `server.external_url`.
    pub external_url: Option<Url>,
    /// `server.allowed_origins`.
    pub allowed_origins: Vec<AllowedOrigin>,
}

impl Default for AuthSettings {
    fn default() -> Self {
        Self {
            disabled_scope: DisabledScope::default(),
            step_up: true,
            step_up_for_keys: false,
            local_setup_code: false,
            audit_retention_days: 400,
            locality: LocalitySettings::default(),
            proxy: ProxyTrust::default(),
            external_url: None,
            allowed_origins: Vec::new(),
        }
    }
}

/// The current settings, with values derived at load time instead of per request.
#[derive(Debug)]
pub(crate) struct ActiveSettings {
    pub(crate) given: AuthSettings,
    pub(crate) origins: OriginSettings,
}

impl From<AuthSettings> for ActiveSettings {
    fn from(given: AuthSettings) -> Self {
        let external = given.external_url.as_ref();
        let origins = OriginSettings {
            allowed_origins: given.allowed_origins.clone(),
            external_url: external.and_then(|url| url.origin().ascii_serialization().parse().ok()),
        };
        Self { given, origins }
    }
}
