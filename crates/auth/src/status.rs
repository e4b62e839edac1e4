//! `GET /api/auth/status`: the facts that a caller may see before and after login.

use crate::api::AuthStatus;
use crate::request_context::RequestContext;
use crate::state::Auth;

impl Auth {
    /// Returns the status that this caller may see, from memory. `page` is the origin of the requesting page, if
    /// known.
    pub fn status(&self, context: &RequestContext, page: Option<&str>) -> AuthStatus {
        let facts = self.facts();
        let identity = context.decision.identity();
        AuthStatus {
            setup_required: !facts.setup_complete,
            setup_complete: facts.setup_complete,
            setup_code_required: !facts.setup_complete && self.needs_setup_code(context),
            has_password: facts.has_password,
            has_passkeys: facts.has_passkeys,
            authenticated: identity.is_some(),
            auth_method: identity.map(|identity| identity.method),
            scopes: identity.map(|identity| identity.scopes),
            auth_disabled: facts.auth_disabled,
            is_local: context.locality.is_local(),
            locality: identity.map(|_| context.locality.into()),
            webauthn_available: self.rp_id(context, page).is_some(),
            vault_status: self.0.secrets.status().as_str().to_owned(),
        }
    }
}
