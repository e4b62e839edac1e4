//! Answers stored messages: one turn per message, one message of a session at a time.

use super::pictures::Pictures;
use super::{Inbound, message_id};
use crate::own_messages::SOURCE;
use gatehouse_agents::{AgentsError, MessageOrigin, Origin, SendRequest, Stop, Target, TurnReport};
use gatehouse_channels::{
    Channels, InboundAccount, Outgoing, Pairing, REPLY_TO, SendError, files_of, session_key,
};
use gatehouse_domain::Actor;
use gatehouse_domain::trace::{ActiveSpan, SpanContext, SpanId, SpanKind};
use gatehouse_store::{ReceivedMessageRow, StoreError};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Wait before a message is retried.
const RETRY: Duration = Duration::from_secs(10);
/// How long Telegram shows that the bot is typing, minus a margin. Telegram shows it for 5 seconds.
const TYPING: Duration = Duration::from_secs(4);
/// Maximum age of a message that is answered. Telegram keeps messages for the same time.
const MAX_AGE: Duration = Duration::from_hours(24);
/// The answer for a failed turn. The owner finds the reason in the conversation.
pub(super) const FAILED: &str = "This cannot be answered right now.";

/// The outcome of handling a message.
enum Outcome {
    /// The message is answered, or needs no answer.
    Ended,
    /// The message stays stored and is retried.
    Later,
}

impl Inbound {
    /// Answers messages as they arrive, until shutdown.
    pub(super) async fn answer_messages(self: Arc<Self>) {
        loop {
            let rest = match self.start_answers().await {
                Ok(()) => None,
                Err(error) => {
                    tracing::warn!(%error, "received messages could not be read");
                    Some(RETRY)
                }
            };
            let arrived = self.arrived.notified();
            let waited = async {
                match rest {
                    Some(rest) => drop(tokio::time::timeout(rest, arrived).await),
                    None => arrived.await,
                }
            };
            if self.shutdown.run_until_cancelled(waited).await.is_none() {
                return;
            }
        }
    }

    /// Starts a task for each session that has a message but no task.
    async fn start_answers(self: &Arc<Self>) -> Result<(), StoreError> {
        let channels = &self.services.channels;
        for account in channels.inbound_accounts().await? {
            if !self.state().own.contains(&account.id) {
                continue;
            }
            let messages = channels.list_waiting_messages(&account.id).await?;
            let keys: HashSet<String> = messages.iter().map(session_key).collect();
            for key in keys {
                if !self.state().busy.insert(key.clone()) {
                    continue;
                }
                let (inbound, account) = (Arc::clone(self), account.clone());
                self.tasks.spawn(async move {
                    inbound.answer_next(&account, &key).await;
                    inbound.state().busy.remove(&key);
                    inbound.arrived.notify_one();
                });
            }
        }
        Ok(())
    }

    /// Answers the oldest message of a session.
    async fn answer_next(&self, account: &InboundAccount, key: &str) {
        match self.try_answer_next(account, key).await {
            Ok(Outcome::Ended) => {}
            Ok(Outcome::Later) => self.pause(RETRY).await,
            Err(error) => {
                let account = &account.id;
                tracing::warn!(%error, account, "a message could not be answered");
                self.pause(RETRY).await;
            }
        }
    }

    async fn try_answer_next(
        &self,
        account: &InboundAccount,
        key: &str,
    ) -> Result<Outcome, StoreError> {
        let channels = &self.services.channels;
        // The list of keys may be out of date: the message may have been answered in the meantime.
        let messages = channels.list_waiting_messages(&account.id).await?;
        let Some(message) = messages.iter().find(|it| session_key(it) == key) else {
            return Ok(Outcome::Ended);
        };
        let mut span = self.begin_span(account, message);
        let outcome = span.run(self.answer(account, message)).await?;
        let word = match &outcome {
            Outcome::Ended => "ended",
            Outcome::Later => "later",
        };
        span.set("gatehouse.message.outcome", word);
        drop(span);
        if matches!(outcome, Outcome::Ended) {
            channels.end_message(message).await?;
        }
        Ok(outcome)
    }

    /// Begins the span of an attempt to answer. All attempts for one message belong to one trace.
    fn begin_span(&self, account: &InboundAccount, message: &ReceivedMessageRow) -> ActiveSpan {
        let tracer = self.services.telemetry.tracer();
        if !tracer.is_on() {
            return ActiveSpan::default();
        }
        let mut own = SpanContext::derived_from(message_id(message).as_str());
        own.span_id = SpanId(self.services.random.bytes());
        let mut span = tracer.begin_as("channel.message", SpanKind::Consumer, own, None);
        span.set("gatehouse.channel.type", &*account.kind);
        span
    }

    /// Waits, or returns immediately during shutdown.
    pub(super) async fn pause(&self, wait: Duration) {
        let sleep = tokio::time::sleep(wait);
        self.shutdown.run_until_cancelled(sleep).await;
    }

    async fn answer(
        &self,
        account: &InboundAccount,
        message: &ReceivedMessageRow,
    ) -> Result<Outcome, StoreError> {
        if self.shutdown.is_cancelled() {
            return Ok(Outcome::Later);
        }
        let channels = &self.services.channels;
        let pairing = channels.find_pairing(&account.id, &message.person).await?;
        let is_old = message.received_at.until(self.services.clock.now()) > MAX_AGE;
        let Some(pairing) = pairing.filter(|_| !is_old) else {
            return Ok(Outcome::Ended);
        };
        let answer = match &message.answer {
            Some(answer) => answer.clone(),
            None => match self.ask(account, &pairing, message).await? {
                Turn::Answer(answer) => answer,
                Turn::Ended => return Ok(Outcome::Ended),
                Turn::Later => return Ok(Outcome::Later),
            },
        };
        self.send(account, message, &answer).await
    }

    /// Runs the turn and stores its answer.
    async fn ask(
        &self,
        account: &InboundAccount,
        pairing: &Pairing,
        message: &ReceivedMessageRow,
    ) -> Result<Turn, StoreError> {
        let is_owner = pairing.trusted && message.is_own;
        let actor = Actor {
            name: format!("channel {}", account.id),
            ..Actor::system()
        };
        let content = match self.content_of(account, message).await {
            Ok(content) => content,
            Err(turn) => return self.keep(message, turn).await,
        };
        let request = SendRequest {
            new_files: content.files,
            session: Target::Person {
                key: session_key(message),
                label: pairing.name.clone(),
            },
            agent: account.agent.clone(),
            origin: Origin::Channel {
                message: message_id(message),
                written_by: if is_owner {
                    MessageOrigin::Owner
                } else {
                    MessageOrigin::Stranger
                },
            },
            ..SendRequest::new(&content.text, actor)
        };
        let ended = match self.services.agents.send_reported(request).await {
            Ok(ended) => self.while_typing(message, ended).await,
            Err(error) => Err(error),
        };
        let turn = match ended {
            Ok(report) => self.answer_of(message, report).await?,
            Err(
                AgentsError::Sealed
                | AgentsError::TooManyWaiting
                | AgentsError::ShuttingDown
                | AgentsError::TakenOver
                | AgentsError::Store(_),
            ) => Turn::Later,
            Err(error) => {
                tracing::warn!(%error, account = account.id, "a message did not start a turn");
                Turn::Answer(FAILED.to_owned())
            }
        };
        self.keep(message, turn).await
    }

    /// Stores the answer.
    async fn keep(&self, message: &ReceivedMessageRow, turn: Turn) -> Result<Turn, StoreError> {
        if let Turn::Answer(answer) = &turn {
            let channels = &self.services.channels;
            channels.set_message_answer(message, answer.clone()).await?;
        }
        Ok(turn)
    }

    async fn answer_of(
        &self,
        message: &ReceivedMessageRow,
        report: TurnReport,
    ) -> Result<Turn, StoreError> {
        if report.cancelled {
            // Either the owner stopped the turn, or the process is shutting down and the next process continues the
            // turn.
            return Ok(if self.shutdown.is_cancelled() {
                Turn::Later
            } else {
                Turn::Ended
            });
        }
        if report.error.is_some() {
            return Ok(Turn::Answer(FAILED.to_owned()));
        }
        let text = with_reason(report.text, report.stop);
        // An answer can consist of only pictures.
        if text.trim().is_empty() && self.pictures_of(message).await?.is_empty() {
            return Ok(Turn::Ended);
        }
        Ok(Turn::Answer(text))
    }

    /// Shows that an answer is being written until `work` ends.
    async fn while_typing<T>(
        &self,
        message: &ReceivedMessageRow,
        work: impl Future<Output = T>,
    ) -> T {
        let channels = &self.services.channels;
        let (id, thread) = (&message.account_id, message.thread.as_deref());
        let mut work = std::pin::pin!(work);
        loop {
            let typing = async {
                let shown = channels.show_typing(id, &message.chat, thread).await;
                if let Err(error) = shown {
                    tracing::debug!(%error, "typing could not be shown");
                }
                tokio::time::sleep(TYPING).await;
            };
            tokio::select! {
                done = &mut work => return done,
                () = typing => {}
            }
        }
    }

    /// Returns whether the answer may be sent: the message is from a group, or only its person reads the
    /// conversation.
    pub(super) async fn may_answer(
        &self,
        account: &InboundAccount,
        message: &ReceivedMessageRow,
    ) -> Result<bool, SendError> {
        let (id, chat, person) = (&account.id, &message.chat, &message.person);
        let is_private = message.is_group || {
            let channels = &self.services.channels;
            channels.is_private(id, chat, person).await?
        };
        if !is_private {
            tracing::warn!(
                account = id,
                "an answer was not sent, because other people would read it"
            );
        }
        Ok(is_private)
    }

    /// Sends the answer and its pictures. Does not send it if it is for one person but other people would read it.
    /// Returns whether it was sent.
    async fn try_send(
        &self,
        account: &InboundAccount,
        message: &ReceivedMessageRow,
        text: &str,
        pictures: &Pictures,
    ) -> Result<bool, SendError> {
        let (channels, id) = (&self.services.channels, &account.id);
        if !self.may_answer(account, message).await? {
            return Ok(false);
        }
        let mut extra = channels
            .address(id, &message.chat, message.thread.as_deref())
            .await?;
        if message.is_group {
            extra.insert(REPLY_TO.to_owned(), message.message_id.clone());
        }
        let target = account.target();
        // An agent's text must not notify people or hide a link's destination.
        let markup = Channels::markup(&target);
        let text = pictures.with_note(text);
        // The permits are held while the pictures are in memory.
        let _permits = self.pictures.acquire_many(pictures.permits()).await.ok();
        let pictures = self.read_pictures(pictures).await;
        let outgoing = Outgoing {
            target: &target,
            text: &markup.escape_answer(&text),
            is_json: false,
            extra: &extra,
            source: SOURCE,
            at: message.received_at,
            delivery: None,
            pictures: &pictures,
            links: &[],
        };
        // Uses the message ID as the key, because messages that arrived together can have the same time and answer.
        channels.send_keyed(outgoing, &message.message_id).await?;
        Ok(true)
    }

    /// Sends the answer until the channel accepts or refuses it. If the message was spoken, also sends the answer
    /// as speech.
    async fn send(
        &self,
        account: &InboundAccount,
        message: &ReceivedMessageRow,
        text: &str,
    ) -> Result<Outcome, StoreError> {
        let pictures = self.pictures_of(message).await?;
        if text.trim().is_empty() && pictures.is_empty() {
            return Ok(Outcome::Ended);
        }
        loop {
            let error = match self.try_send(account, message, text, &pictures).await {
                Ok(was_sent) => {
                    let was_spoken = files_of(message).iter().any(|file| file.is_voice);
                    let is_spoken = was_sent && was_spoken && !text.trim().is_empty();
                    if let Some(format) = account.voice.filter(|_| is_spoken) {
                        // Ends the message first. If the process ends during the speech, the text is not sent
                        // again.
                        self.services.channels.end_message(message).await?;
                        self.speak(account, message, (text, format)).await;
                    }
                    return Ok(Outcome::Ended);
                }
                Err(error) => error,
            };
            tracing::warn!(account = account.id, %error, "an answer was not sent");
            let wait = match error {
                SendError::Retry { after, .. } => after.unwrap_or(RETRY),
                SendError::Unreachable { .. } => RETRY,
                SendError::Sealed | SendError::Disabled { .. } => return Ok(Outcome::Later),
                SendError::GiveUp { .. } => return Ok(Outcome::Ended),
            };
            self.pause(wait).await;
            if self.shutdown.is_cancelled() {
                return Ok(Outcome::Later);
            }
        }
    }
}

/// Returns the answer with the reason why it is incomplete or missing. Without the reason, a person would wait for
/// the rest.
fn with_reason(text: String, stop: Stop) -> String {
    let is_empty = text.trim().is_empty();
    let reason = match stop {
        Stop::Length => "The answer is incomplete, because the model reached its limit.",
        Stop::Filtered => "A content filter removed the answer or its end.",
        // A refusal usually has a text.
        Stop::Refused if is_empty => "The model refused to answer.",
        Stop::ToolLimit if is_empty => "The agent used all its steps without an answer.",
        _ => return text,
    };
    if is_empty {
        reason.to_owned()
    } else {
        format!("{text}\n\n({reason})")
    }
}

/// The result of a turn.
pub(super) enum Turn {
    Answer(String),
    /// There is nothing to send.
    Ended,
    Later,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_incomplete_or_missing_says_why() {
        let with = |text: &str, stop| with_reason(text.to_owned(), stop);
        assert_eq!(with("Whole.", Stop::End), "Whole.");
        assert_eq!(with("", Stop::End), "");
        assert_eq!(with("I cannot help.", Stop::Refused), "I cannot help.");
        assert_eq!(with(" ", Stop::Refused), "The model refused to answer.");
        assert_eq!(with("Done.", Stop::ToolLimit), "Done.");
        let limit = "The agent used all its steps without an answer.";
        assert_eq!(with("", Stop::ToolLimit), limit);
        let filtered = "A content filter removed the answer or its end.";
        assert_eq!(with("", Stop::Filtered), filtered);
        assert_eq!(
            with("Half", Stop::Length),
            "Half\n\n(The answer is incomplete, because the model reached its limit.)"
        );
    }
}
