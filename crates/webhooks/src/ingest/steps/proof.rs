//! Verifies a request, and responds to one that only verifies the URL.

use crate::ingest::guesses::{Attempt, LONG_PER_MINUTE, SHORT_PER_MINUTE};
use crate::ingest::intake::{Intake, Phase};
use crate::ingest::outcome::IngestError;
use crate::metrics;
use crate::secret::SHORT_BYTES;
use gatehouse_sources::ReplayGuard;
use gatehouse_sources::event::{self, HandshakeInput, HandshakeReply};
use gatehouse_sources::payload::Payload;
use gatehouse_sources::verify::{self, Proof, VerifyInput};
use http::HeaderMap;

/// The headers, the URL that the sender called, and the body.
type Request<'a> = (&'a HeaderMap, &'a str, &'a [u8]);

impl Intake {
    /// Verifies the request. Returns the signed ID and, with the replay guard `bytes`, the hash of the
    /// verified bytes.
    pub(in crate::ingest) async fn verify(
        &self,
        headers: &HeaderMap,
        url: &str,
        body: &[u8],
    ) -> Result<(Option<String>, Option<String>), IngestError> {
        let secrets = self.webhook.secrets(self.received_at);
        let input = self.verify_input(&secrets, (headers, url, body));
        let proof = self.prove(&input).await.inspect_err(|error| {
            if let IngestError::Unverified(error) = error {
                self.reject_unverified(error.reason(), headers, body);
            }
        })?;
        let goes_by_bytes =
            self.webhook.config.replay_guard == ReplayGuard::Bytes && !body.is_empty();
        let bytes_key = goes_by_bytes.then(|| proof.digest(&input));
        Ok((proof.id().map(str::to_owned), bytes_key))
    }

    fn verify_input<'i>(
        &'i self,
        secrets: &'i [&'i str],
        (headers, url, body): Request<'i>,
    ) -> VerifyInput<'i> {
        let (auth, settings) = (&self.webhook.auth, self.inner.settings.load());
        VerifyInput {
            mode: auth.mode,
            header: auth.header.as_deref(),
            secrets,
            headers,
            body,
            url,
            now_ms: self.received_at.as_millis(),
            tracker_tolerance_seconds: settings.section.tracker_tolerance_seconds,
        }
    }

    /// Returns the response to a verified request that only verifies the URL. If several secrets are valid, the
    /// response uses the secret of the request.
    pub(in crate::ingest) fn handshake(
        &self,
        request: Request<'_>,
        payload: &Payload,
    ) -> Option<HandshakeReply> {
        self.webhook.profile.handshake.as_ref()?;
        let secrets = self.webhook.secrets(self.received_at);
        event::handshake(&HandshakeInput {
            profile: self.webhook.profile,
            mode: self.webhook.auth.mode,
            headers: request.0,
            payload,
            secret: match secrets.as_slice() {
                &[only] => Some(only),
                several => verify::proving_secret(&self.verify_input(several, request)),
            },
        })
    }

    /// Verifies a proof. Limits wrong tokens per client, but not signatures.
    async fn prove<'a>(&self, input: &VerifyInput<'a>) -> Result<Proof<'a>, IngestError> {
        let tokens = verify::offered_tokens(input);
        // The client of a held delivery does not receive the outcome, and the number of held deliveries is limited.
        if tokens == 0 || matches!(self.phase, Phase::Release(_)) {
            return Ok(verify::prove(input)?);
        }
        let is_short = |secret: &&str| secret.len() < SHORT_BYTES;
        let attempt = Attempt {
            webhook: self.webhook.id.clone(),
            client: self.from.client,
            tokens,
            per_minute: if input.secrets.iter().any(is_short) {
                SHORT_PER_MINUTE
            } else {
                LONG_PER_MINUTE
            },
        };
        let guesses = &self.inner.guesses;
        match guesses.compare(attempt, || verify::prove(input)).await {
            Ok(outcome) => Ok(outcome?),
            Err(wait_ms) => {
                metrics::rejected("too_many_wrong_secrets");
                metrics::rate_limited(&self.webhook.id);
                Err(IngestError::RateLimited { wait_ms })
            }
        }
    }
}
