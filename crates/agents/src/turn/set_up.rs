//! Reads the data that a turn needs before the model is called.

use super::{
    failure::TurnFailure,
    refused,
    running::{Running, Setup},
};
use crate::agent::{Agent, DEFAULT_AGENT};
use crate::context::{Conversation, Summary};
use crate::message::Role;
use crate::origin::MessageOrigin;
use crate::policy::Permit;
use crate::prompt;
use crate::prompt::Partner;
use crate::send::Origin;
use crate::session::Source;
use crate::taint::HasRead;
use gatehouse_store::{ChatMessageRow, ChatSessionRow};
use std::collections::VecDeque;

/// The maximum number of messages that are read. Older messages that no summary covers are omitted.
const MAX_MESSAGES: i64 = 2000;

impl Running<'_> {
    pub(super) async fn set_up(&self) -> Result<Setup, TurnFailure> {
        let (session, agent) = self.read_session().await?;
        let turn = &self.turn;
        let rows = self.read_rows(&session).await?;
        let has_gap = rows.len() >= usize::try_from(MAX_MESSAGES).unwrap_or(usize::MAX);
        let config = &agent.config;
        let mut fallback = VecDeque::from(config.fallback.clone());
        let model = self.choose_model(config, &mut fallback).await?;
        let has_files = rows.iter().any(|row| row.attachments.is_some());
        let learning = self.inner.models.learn_facts(&model, has_files);
        turn.cancel
            .run_until_cancelled(learning)
            .await
            .ok_or(TurnFailure::Stopped)?;
        let mut files = self.inner.read_files(&rows).await?;
        files.sees = self.inner.models.facts(&model).vision == Some(true);
        let source = Source::of(&session.source);
        let has_sender_text =
            session.tainted && matches!(source, Source::Webhook | Source::Channel);
        let summary = session.summary.map(|text| Summary {
            text,
            origin: MessageOrigin::of(&session.summary_origin),
        });
        Ok(Setup {
            fallback,
            permit: Permit::of(&turn.origin, has_sender_text, &config.tools),
            read: HasRead {
                strangers: session.tainted,
                private: session.private,
            },
            has_sender_text,
            is_of_channel: source == Source::Channel,
            conversation: Conversation::new(summary, rows, turn.number, model.to_string(), has_gap)
                .with_files(files),
            agent,
            model,
        })
    }

    async fn read_session(&self) -> Result<(ChatSessionRow, Agent), TurnFailure> {
        let (id, agent) = (self.turn.session.clone(), self.turn.agent.clone());
        let read = self.inner.store.read(move |conn| {
            Box::pin(async move {
                let session = conn.find_chat_session(&id).await?;
                let row = match conn.find_agent(&agent).await? {
                    Some(row) => Some(row),
                    None => conn.find_agent(DEFAULT_AGENT).await?,
                };
                Ok::<_, TurnFailure>((session, row.map(Agent::of).transpose()?))
            })
        });
        match read.await? {
            (Some(session), Some(agent)) => Ok((session, agent)),
            (None, _) => Err(TurnFailure::SessionGone),
            (_, None) => Err(TurnFailure::NoAgent),
        }
    }

    async fn read_rows(
        &self,
        session: &ChatSessionRow,
    ) -> Result<Vec<ChatMessageRow>, TurnFailure> {
        // Another node may have run and summarized a later turn before this one.
        let after = session.summary_turn.min(self.turn.number - 1);
        let (id, turns) = (session.id.clone(), (after, self.turn.number));
        let read = self.inner.store.read(move |conn| {
            Box::pin(async move { conn.list_chat_context(&id, turns, MAX_MESSAGES).await })
        });
        let mut rows: Vec<ChatMessageRow> = read.await?;
        // Leave out the messages of an earlier attempt of the same delivery.
        rows.retain(|row| row.turn_no < self.turn.number || row.role == Role::User.as_str());
        refused::leave_out(&mut rows, self.turn.number);
        if rows.is_empty() {
            return Err(TurnFailure::SessionGone);
        }
        Ok(rows)
    }

    /// Returns the system prompt. `has_tools` means that tools are offered. Earlier tool output is explained even if
    /// none are offered.
    pub(super) fn system_prompt(&self, setup: &Setup, has_tools: bool) -> Option<String> {
        let has_sender_text = self.turn.origin.is_from_sender() || setup.has_sender_text;
        let rule = has_sender_text.then_some(if setup.is_of_channel {
            prompt::GUEST_DATA
        } else {
            prompt::WEBHOOK_DATA
        });
        let hint = self.speaker().and_then(|speaker| speaker.hint());
        let frame = self.frame(&setup.agent);
        let added = [
            setup.agent.config.system_prompt.as_deref(),
            self.turn.system_suffix.as_deref(),
            hint.as_deref(),
            Some(&frame),
        ];
        prompt::system(
            added,
            rule,
            has_tools || setup.conversation.has_tool_output(),
            setup.conversation.has_files(),
            setup.conversation.summary().is_some(),
        )
    }

    /// Returns the facts of the turn: the agent's name, the date, and the partner of the conversation. There is no time
    /// of day, so providers can cache the prompt.
    fn frame(&self, agent: &Agent) -> String {
        let (now, settings) = (self.inner.clock.now(), self.inner.settings.load());
        prompt::frame(
            &agent.name,
            &settings.zone.day(now),
            &settings.zone.name(now),
            match self.turn.origin {
                Origin::Chat | Origin::Api => Partner::Caller(&self.turn.actor.name),
                Origin::Webhook { .. } => Partner::Webhook(&self.turn.actor.name),
                Origin::Channel { written_by, .. } => Partner::Person {
                    channel: &self.turn.actor.name,
                    is_owner: written_by == MessageOrigin::Owner,
                },
            },
        )
    }
}
