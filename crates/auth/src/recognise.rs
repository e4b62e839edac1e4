//! Authenticates a request: `check_auth()` decides once, and the result is passed on.

use crate::bearer::bearer_token;
use crate::check_auth::CheckInput;
use crate::client_address::{client, request_is_https};
use crate::cookie::{SessionCookies, has_session_cookie};
use crate::cross_site::{CrossSiteRequest, check, loopback_or_known_origin};
use crate::host::{HostFinding, request_authority};
use crate::identity::Subject;
use crate::locality::locality_at;
use crate::request_context::{RecogniseError, RequestContext, RequestFacts};
use crate::state::Auth;
use crate::throttle::{asks_to_upgrade, class_of};
use gatehouse_domain::Problem;

impl Auth {
    /// Determines a request's client, locality and identity.
    pub async fn recognise(
        &self,
        facts: &RequestFacts<'_>,
    ) -> Result<RequestContext, RecogniseError> {
        let RequestFacts {
            method,
            uri,
            headers,
            peer,
            over_tls,
        } = *facts;
        let finding = request_authority(headers, uri);
        let is_upgrade = asks_to_upgrade(method, headers);
        let class = class_of(method, uri.path(), is_upgrade);
        let (client, locality, https) = {
            let settings = self.0.settings.load();
            let given = &settings.given;
            (
                client(&given.proxy, peer, headers),
                locality_at(given.locality, peer, headers, &finding),
                request_is_https(over_tls, &given.proxy, peer, headers),
            )
        };
        let host = match finding {
            HostFinding::Conflict => return Err(RecogniseError::HostConflict),
            HostFinding::Found(authority) => Some(authority.into_owned()),
            HostFinding::Absent | HostFinding::Unparsable => None,
        };
        let input = CheckInput {
            locality,
            client: &client,
            class,
            sessions: SessionCookies::of(headers),
            api_key: bearer_token(headers),
            device_token: None,
        };
        let decision = self.check_auth(&input).await?;
        Ok(RequestContext {
            locality,
            client,
            https,
            host,
            decision,
            is_upgrade,
            class,
        })
    }

    /// Refuses requests that another site's page made a browser send. While auth is disabled, also refuses pages
    /// under unknown names.
    pub fn cross_site(
        &self,
        facts: &RequestFacts<'_>,
        context: &RequestContext,
    ) -> Result<(), Problem> {
        let RequestFacts {
            method,
            uri,
            headers,
            ..
        } = *facts;
        // Most requests are neither upgrades nor unsafe, so their credentials are not parsed again.
        if context.is_upgrade || !method.is_safe() {
            let request = CrossSiteRequest {
                method,
                uri,
                headers,
                is_upgrade: context.is_upgrade,
                is_https: context.https,
                has_bearer: bearer_token(headers).is_some(),
                has_session_cookie: has_session_cookie(headers),
            };
            check(&request, &self.0.settings.load().origins)?;
        }
        let subject = context
            .decision
            .identity()
            .map(|identity| &identity.subject);
        if matches!(subject, Some(Subject::LoopbackDisabled { .. })) {
            loopback_or_known_origin(headers, &self.0.settings.load().origins)?;
        }
        Ok(())
    }
}
