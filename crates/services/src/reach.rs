//! Tests whether the server is reachable at its public URL. Requests the URL and checks that the answer comes from
//! this node or from another node of its database.

mod problem;

use crate::Services;
use crate::live_config::settings::base_url;
use arc_swap::ArcSwapOption;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_outbound::{AddressSource, OutboundError, policy, read_capped};
use gatehouse_store::StoreError;
use http::header::LOCATION;
use problem::Failure;
pub use problem::ReachProblem;
use reqwest::Response;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use url::{Host, Url};

/// How long a test may take.
const LIMIT: Duration = Duration::from_secs(10);
/// Maximum number of bytes of the answer that are read.
const MAX_BYTES: usize = 4096;
/// The maximum number of characters of a redirect's target in [`Reached::detail`].
const MAX_LOCATION: usize = 200;

/// The test that runs, if any.
#[derive(Debug, Default)]
pub struct Reach {
    /// Locked during a test.
    turn: Mutex<()>,
    asked: ArcSwapOption<OpenQuestion>,
}

#[derive(Debug)]
struct OpenQuestion {
    question: String,
    answer: String,
}

impl Reach {
    fn answer(&self, question: &str) -> Option<String> {
        let asked = self.asked.load();
        let asked = asked.as_ref().filter(|asked| asked.question == question);
        asked.map(|asked| asked.answer.clone())
    }
}

/// Removes the challenge when the test ends or is dropped.
struct Asking<'a>(&'a Reach);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.asked.store(None);
    }
}

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reached {
    /// The URL that senders use: `server.external_url`, or the address that the server listens on.
    pub url: String,
    /// Whether this process, or another node of its database, answered.
    pub ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ReachProblem>,
    /// The unexpected result, such as `HTTP 404`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Whether the host has only addresses that do not exist on the internet.
    pub private: bool,
}

impl Services {
    /// Returns the answer to a challenge of this process or of another node of its database; `None` for any other
    /// text. Challenges cannot be guessed: they are 128 random bits, and valid for at most ten seconds.
    pub async fn reach_answer(&self, question: &str) -> Option<String> {
        if let Some(answer) = self.reach.answer(question) {
            return Some(answer);
        }
        let is_question = question.len() == 32 && question.bytes().all(|it| it.is_ascii_hexdigit());
        if !is_question || !self.store.engine().is_shared() {
            return None;
        }
        let (question, now) = (question.to_owned(), self.clock.now());
        let read = self.store.read(move |conn| {
            Box::pin(async move { conn.find_reach_answer(&question, now).await })
        });
        let found: Result<_, StoreError> = read.await;
        found.unwrap_or_else(|error| {
            tracing::debug!(%error, "the answer to another node's request could not be read");
            None
        })
    }

    /// Stores a challenge for the other nodes.
    async fn share_question(&self, asked: &Arc<OpenQuestion>) -> Result<(), StoreError> {
        if !self.store.engine().is_shared() {
            return Ok(());
        }
        let (asked, now) = (Arc::clone(asked), self.clock.now());
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let times = (now, now.after(LIMIT));
                conn.insert_reach_question(&asked.question, &asked.answer, times)
                    .await
            })
        });
        write.await
    }

    /// Requests `/health` at the public URL and checks that this process, or another node of its database, answers.
    /// Follows no redirects. Fails with `CONFLICT` while another test runs.
    pub async fn test_reach(&self) -> Result<Reached, Problem> {
        let Ok(_turn) = self.reach.turn.try_lock() else {
            let message = "The public URL is already being tested.";
            return Err(Problem::new(ErrorCode::Conflict, message));
        };
        let url = base_url(&self.config.resolved().settings);
        let mut is_private = false;
        let test = self.ask(&url, &mut is_private);
        let tried = match tokio::time::timeout(LIMIT, test).await {
            Ok(tried) => tried,
            Err(_) => Err(ReachProblem::Timeout.into()),
        };
        let failure = tried.err();
        Ok(Reached {
            url,
            ok: failure.is_none(),
            problem: failure.as_ref().map(|failure| failure.problem),
            detail: failure.and_then(|failure| failure.detail),
            private: is_private,
        })
    }

    async fn ask(&self, url: &str, is_private: &mut bool) -> Result<(), Failure> {
        let mut url = Url::parse(&format!("{url}/health")).map_err(|_| ReachProblem::Other)?;
        *is_private = is_only_private(&self.addresses(&url).await?);
        let random = || format!("{:032x}", u128::from_be_bytes(self.random.bytes()));
        let asked = Arc::new(OpenQuestion {
            question: random(),
            answer: random(),
        });
        self.reach.asked.store(Some(Arc::clone(&asked)));
        let _asking = Asking(&self.reach);
        if let Err(error) = self.share_question(&asked).await {
            tracing::warn!(%error, "other nodes cannot answer at the public URL");
        }
        url.query_pairs_mut()
            .append_pair("question", &asked.question);
        let client = self.outbound.client(AddressSource::Owner);
        let request = client.get(url).build().map_err(OutboundError::from)?;
        let response = self.outbound.send(AddressSource::Owner, request).await?;
        if response.status() != http::StatusCode::OK {
            return Err(Failure {
                problem: ReachProblem::Status,
                detail: Some(status_of(&response)),
            });
        }
        let (body, _) = read_capped(response, MAX_BYTES).await?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        if body.get("answer").and_then(Value::as_str) == Some(&asked.answer) {
            Ok(())
        } else {
            Err(ReachProblem::OtherServer.into())
        }
    }

    /// Returns the addresses of the URL's host.
    async fn addresses(&self, url: &Url) -> Result<Vec<IpAddr>, Failure> {
        let name = match url.host() {
            Some(Host::Ipv4(v4)) => return Ok(vec![v4.into()]),
            Some(Host::Ipv6(v6)) => return Ok(vec![v6.into()]),
            Some(Host::Domain(name)) => name,
            None => return Err(ReachProblem::Other.into()),
        };
        let found = self.outbound.resolve(AddressSource::Owner, name).await;
        found.map_err(|error| match error {
            OutboundError::Connect => ReachProblem::Dns.into(),
            error => error.into(),
        })
    }
}

fn is_only_private(addresses: &[IpAddr]) -> bool {
    !addresses.iter().copied().any(policy::is_public)
}

fn status_of(response: &Response) -> String {
    let status = response.status().as_u16();
    let location = response.headers().get(LOCATION);
    match location.and_then(|value| value.to_str().ok()) {
        Some(to) if response.status().is_redirection() => {
            let to: String = to.chars().take(MAX_LOCATION).collect();
            format!("HTTP {status} to {to}")
        }
        _ => format!("HTTP {status}"),
    }
}

#[cfg(test)]
mod tests;
