//! The links that were sent for tool calls that wait for approval, and the end of each call. The node that sent
//! them keeps them in memory. They are also stored, for other nodes and for the time after a restart.

use crate::Services;
use gatehouse_agents::Approval;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::ApprovalId;
use gatehouse_store::{ApprovalLinkRow, StoreError, WaitingApprovalRow, unguarded};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of links. The oldest link is removed first.
const MAX_LINKS: usize = 1_000;
/// How early a call can end by its timer before its expiry, because clocks run at different speeds.
const TOLERANCE: Duration = Duration::from_secs(1);
/// The number of attempts, and their intervals, to store the end of a call whose link is not stored yet.
const STORES: u32 = 5;
const BETWEEN_STORES: Duration = Duration::from_secs(1);

/// Returns whether a call that ended at this time without an answer had expired.
pub(crate) fn has_expired(expires_at: Timestamp, ended_at: Timestamp) -> bool {
    ended_at.after(TOLERANCE) >= expires_at
}

/// The way in which a person answered a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnsweredThrough {
    /// A link that is its own credential.
    Link,
    /// A button in a chat.
    Chat,
    /// The API, which the web UI uses too.
    Api,
}

impl AnsweredThrough {
    const ALL: [Self; 3] = [Self::Link, Self::Chat, Self::Api];

    /// Returns the name in the API and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Chat => "chat",
            Self::Api => "api",
        }
    }
}

/// An answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub allowed: bool,
    pub at: Timestamp,
    /// How the call was answered. `None` if it was answered together with another call, or if it is not known.
    pub through: Option<AnsweredThrough>,
}

/// How the call of a link ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    Answered(Decision),
    /// Nobody answered until then.
    Expired(Timestamp),
    /// The turn ended before an answer.
    Stopped,
}

impl LinkEnd {
    /// Returns how the call of a stored link ended.
    fn of(row: &ApprovalLinkRow, now: Timestamp) -> Self {
        match (row.allowed, row.ended_at) {
            (Some(allowed), at) => {
                let stored = row.answered_through.as_deref();
                let mut all = AnsweredThrough::ALL.into_iter();
                Self::Answered(Decision {
                    allowed,
                    at: at.unwrap_or(row.expires_at),
                    through: all.find(|it| Some(it.as_str()) == stored),
                })
            }
            (None, None) if now >= row.expires_at => Self::Expired(row.expires_at),
            (None, _) => Self::Stopped,
        }
    }

    /// Returns whether the database cannot add information.
    const fn is_complete(self) -> bool {
        matches!(
            self,
            Self::Answered(Decision {
                through: Some(_),
                ..
            })
        )
    }

    /// Returns the end in memory or the stored one, whichever contains more information.
    fn known(here: Option<Self>, stored: Option<Self>) -> Option<Self> {
        match stored {
            // Another node may have stored the answer.
            Some(Self::Answered(_)) => stored,
            _ => here.or(stored),
        }
    }
}

#[derive(Debug)]
struct SentLink {
    /// Identifies the token. The token itself is not kept.
    token_key: String,
    id: ApprovalId,
    expires_at: Timestamp,
    decision: Option<Decision>,
    /// Whether the turn ended before the expiry.
    is_stopped: bool,
}

impl SentLink {
    /// Returns how the call ended, assuming that it no longer waits.
    fn end(&self, now: Timestamp) -> LinkEnd {
        match self.decision {
            Some(decision) => LinkEnd::Answered(decision),
            None if !self.is_stopped && now >= self.expires_at => LinkEnd::Expired(self.expires_at),
            None => LinkEnd::Stopped,
        }
    }
}

/// The value that identifies a link.
#[derive(Debug)]
enum LinkName {
    /// The result of [`WaitingApprovalRow::token_key_of`] for its token.
    TokenKey(String),
    Call(ApprovalId),
}

impl LinkName {
    fn of_token(token: &str) -> Self {
        Self::TokenKey(WaitingApprovalRow::token_key_of(token))
    }
}

/// The links that this process sent.
#[derive(Debug, Default)]
pub(crate) struct SentLinks(Mutex<VecDeque<SentLink>>);

impl SentLinks {
    fn lock(&self) -> MutexGuard<'_, VecDeque<SentLink>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the link to a call.
    pub(crate) fn note_sent(&self, asked: &Approval, token: &str) {
        let mut links = self.lock();
        if links.len() >= MAX_LINKS {
            links.pop_front();
        }
        links.push_back(SentLink {
            token_key: WaitingApprovalRow::token_key_of(token),
            id: asked.id.clone(),
            expires_at: asked.expires_at,
            decision: None,
            is_stopped: false,
        });
    }

    /// Records the answer to a call. Only the first report counts. A later report can add how the call was
    /// answered.
    pub(crate) fn note_decision(&self, id: &ApprovalId, decision: Decision) {
        let mut links = self.lock();
        for link in links.iter_mut().filter(|link| link.id == *id) {
            match &mut link.decision {
                Some(known) => known.through = known.through.or(decision.through),
                None => link.decision = Some(decision),
            }
        }
    }

    /// Records that a call no longer waits although it was not answered. Returns whether it was stopped before its
    /// expiry.
    pub(crate) fn note_unanswered(&self, id: &ApprovalId, now: Timestamp) -> bool {
        let mut links = self.lock();
        let mut is_stopped = false;
        for link in links.iter_mut().filter(|link| link.id == *id) {
            link.is_stopped = !has_expired(link.expires_at, now);
            is_stopped |= link.is_stopped;
        }
        is_stopped
    }

    /// Returns how a call was answered; `None` if it was not answered, or was answered on another node.
    pub(crate) fn through_of(&self, id: &ApprovalId) -> Option<AnsweredThrough> {
        let links = self.lock();
        let link = links.iter().find(|link| link.id == *id)?;
        link.decision.and_then(|decision| decision.through)
    }

    /// Returns how the call of a link ended, assuming that it no longer waits; `None` for an unknown link.
    fn end_of(&self, name: &LinkName, now: Timestamp) -> Option<LinkEnd> {
        let links = self.lock();
        let mut links = links.iter();
        let link = links.find(|link| match name {
            LinkName::TokenKey(key) => link.token_key == *key,
            LinkName::Call(id) => link.id == *id,
        })?;
        Some(link.end(now))
    }
}

/// The end of a call to store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StoredEnd {
    Answered(Decision),
    Stopped(Timestamp),
}

impl Services {
    /// Stores the link to a call. A failure is only logged: the link works without it.
    pub(crate) async fn store_link(&self, asked: &Approval, token: &str) {
        let row = ApprovalLinkRow {
            token_key: WaitingApprovalRow::token_key_of(token),
            approval_id: asked.id.clone(),
            expires_at: asked.expires_at,
            allowed: None,
            ended_at: None,
            answered_through: None,
        };
        let now = self.clock.now();
        let write = self
            .store
            .write(move |conn| Box::pin(async move { conn.insert_approval_link(&row, now).await }));
        let stored: Result<(), StoreError> = write.await;
        if let Err(error) = stored {
            tracing::warn!(%error, "the link to a call that waits was not stored");
        }
    }

    /// Stores how a call ended. Returns whether its link is stored. A failure is only logged.
    pub(crate) async fn store_link_end(&self, id: &ApprovalId, end: StoredEnd) -> bool {
        let id = id.clone();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                match end {
                    StoredEnd::Answered(Decision {
                        allowed,
                        at,
                        through,
                    }) => {
                        let through = through.map(AnsweredThrough::as_str);
                        conn.update_approval_link_answer(&id, (allowed, at), through)
                            .await
                    }
                    StoredEnd::Stopped(at) => conn.update_approval_link_stopped(&id, at).await,
                }
            })
        });
        // Written without the guard, because the caller's credential may have ended after the answer took effect.
        let stored: Result<bool, StoreError> = unguarded(write).await;
        stored.unwrap_or_else(|error| {
            tracing::warn!(%error, "the end of a call was not stored for its link");
            false
        })
    }

    /// Like [`Self::store_link_end`], but retries if the link is not stored yet, because another task may be
    /// storing it.
    pub(crate) async fn store_link_end_later(&self, id: &ApprovalId, end: StoredEnd) {
        for _ in 0..STORES {
            if self.store_link_end(id, end).await {
                return;
            }
            tokio::time::sleep(BETWEEN_STORES).await;
        }
    }

    /// Returns how the call of a link ended. Returns `None` for an unknown link, or a day after the call would have
    /// expired. Use it only for links whose call no longer waits.
    pub async fn approval_link_end(&self, token: &str) -> Result<Option<LinkEnd>, StoreError> {
        self.link_end(LinkName::of_token(token)).await
    }

    /// Like [`Self::approval_link_end`], for the ID of a call.
    pub async fn approval_end(&self, id: &ApprovalId) -> Result<Option<LinkEnd>, StoreError> {
        self.link_end(LinkName::Call(id.clone())).await
    }

    async fn link_end(&self, name: LinkName) -> Result<Option<LinkEnd>, StoreError> {
        let now = self.store.shared_now(&self.clock).await;
        let here = self.sent_links.end_of(&name, now);
        if here.is_some_and(LinkEnd::is_complete) {
            return Ok(here);
        }
        let find = self.store.read(move |conn| {
            Box::pin(async move {
                match &name {
                    LinkName::TokenKey(key) => conn.find_approval_link(key).await,
                    LinkName::Call(id) => conn.find_approval_link_of(id).await,
                }
            })
        });
        let row: Option<ApprovalLinkRow> = find.await?;
        Ok(LinkEnd::known(here, row.map(|row| LinkEnd::of(&row, now))))
    }
}

#[cfg(test)]
mod tests;
