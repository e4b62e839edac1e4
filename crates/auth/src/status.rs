//! `GET /api/auth/status`: what a caller may know before and after login.

use crate::api::AuthStatus;
use crate::state::Auth;
use crate::visit::Visit;

impl Auth {
    /// The status as this caller may see it, from memory. `page` is the origin of the requesting
    /// page, if known.
    pub fn status(&self, visit: &Visit, page: Option<&str>) -> AuthStatus {
        let facts = self.facts();
        let identity = visit.decision.identity();
        AuthStatus {
            setup_required: !facts.setup_complete,
            setup_complete: facts.setup_complete,
            setup_code_required: !facts.setup_complete && self.needs_setup_code(visit),
            has_password: facts.has_password,
            has_passkeys: facts.has_passkeys,
            authenticated: identity.is_some(),
            auth_method: identity.map(|identity| identity.method),
            scopes: identity.map(|identity| identity.scopes),
            auth_disabled: facts.auth_disabled,
            is_local: visit.locality.is_local(),
            locality: identity.map(|_| visit.locality.into()),
            webauthn_available: self.rp_id(visit, page).is_some(),
            vault_status: self.0.secrets.status().as_str().to_owned(),
        }
    }
}
