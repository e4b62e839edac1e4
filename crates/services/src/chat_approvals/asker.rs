//! The trusted person whose turn needs an approval, and the reply to a person who cannot be asked with buttons.

use super::text::{ASKED_DIRECTLY, UNSHOWN};
use super::{Chat, RETRY_AFTER, retry_wait};
use crate::Services;
use crate::approval_messages::message_text;
use crate::inbound::message_id;
use crate::live_config::settings::base_url;
use crate::own_messages::SOURCE;
use gatehouse_agents::{Approval, ButtonRecipient};
use gatehouse_channels::{Channels, InboundAccount, Outgoing};
use gatehouse_config::ApprovalLinks;
use gatehouse_domain::id::DeliveryId;
use gatehouse_store::{ReceivedMessageRow, StoreError};
use tokio::sync::oneshot;

/// The trusted person whose turn needs an approval.
#[derive(Debug)]
pub(crate) struct Asker {
    /// The direct chat with the person; `None` if the chat is not known or the channel has no buttons.
    pub(crate) chat: Option<Chat>,
    /// The message that gets a reply that a call waits. `None` if the question is asked in the same chat.
    pub(crate) reply_to: Option<(InboundAccount, ReceivedMessageRow)>,
}

impl Services {
    /// Returns the trusted person whose turn needs the approval, if the turn answers a message of a channel.
    pub(crate) async fn asker(&self, asked: &Approval) -> Option<Asker> {
        let message = self.agents.approval_message(&asked.id)?;
        let found = self.find_asker(&message).await;
        found.unwrap_or_else(|error| {
            tracing::warn!(%error, "the person whose turn needs an approval could not be read");
            None
        })
    }

    async fn find_asker(&self, id: &DeliveryId) -> Result<Option<Asker>, StoreError> {
        for account in self.channels.inbound_accounts().await? {
            let waiting = self.channels.list_waiting_messages(&account.id).await?;
            let Some(message) = waiting.into_iter().find(|it| message_id(it) == *id) else {
                continue;
            };
            let place = place_of(&account, &message);
            if !self.is_trusted(&place).await? {
                return Ok(None);
            }
            let has_buttons = self.channels.question_form(&account.id).await?.is_some();
            if has_buttons && !message.is_group {
                let chat = Chat {
                    place,
                    thread: message.thread,
                    is_own: true,
                };
                return Ok(Some(Asker {
                    chat: Some(chat),
                    reply_to: None,
                }));
            }
            let direct = self.channels.find_chat_with(&account.id, &message.person);
            let chat = direct.await?.map(|chat| Chat {
                place: ButtonRecipient { chat, ..place },
                thread: None,
                is_own: false,
            });
            return Ok(Some(Asker {
                chat,
                reply_to: Some((account, message)),
            }));
        }
        Ok(None)
    }

    /// Replies to a message that its turn waits for an approval. Stops when the channel accepts the reply or the
    /// call no longer waits. `sent` reports that the question was sent to the direct chat, or is dropped if it was
    /// not. Without a question, only a direct chat gets the call and its link, and only a link that needs a login.
    pub(crate) async fn tell_asker(
        &self,
        asked: &Approval,
        (account, message): (&InboundAccount, &ReceivedMessageRow),
        sent: oneshot::Receiver<()>,
    ) {
        let is_asked_directly = sent.await.is_ok();
        let Some(token) = self.agents.approval_token(&asked.id) else {
            return;
        };
        // Uses the clock with which the expiry is compared.
        let at = self.store.shared_now(&self.clock).await;
        let target = account.target();
        let resolved = self.config.resolved();
        let needs_login = resolved.settings.approvals.links == ApprovalLinks::SignIn;
        let link = format!("{}/approve/{token}", base_url(&resolved.settings));
        drop(resolved);
        let text = if is_asked_directly {
            ASKED_DIRECTLY.to_owned()
        } else if needs_login && !message.is_group {
            message_text(asked, Channels::markup(&target), (at, Some(&link)))
        } else {
            UNSHOWN.to_owned()
        };
        let person = place_of(account, message);
        while self.agents.approval_token(&asked.id).is_some() {
            // The person's trust may have been withdrawn during the retries.
            match self.is_trusted(&person).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(%error, "the person of a channel could not be read");
                    tokio::time::sleep(RETRY_AFTER).await;
                    continue;
                }
            }
            let sending = async {
                let thread = message.thread.as_deref();
                let place = self.channels.address(&account.id, &message.chat, thread);
                let extra = place.await?;
                let outgoing = Outgoing {
                    target: &target,
                    text: &text,
                    is_json: false,
                    extra: &extra,
                    source: SOURCE,
                    at,
                    delivery: None,
                    pictures: &[],
                    links: &[],
                };
                let key = asked.id.as_str();
                self.channels.send_keyed(outgoing, key).await
            };
            let Err(error) = sending.await else {
                return;
            };
            let account = &account.id;
            tracing::warn!(account, %error, "a message about a waiting call was not sent");
            let Some(wait) = retry_wait(&error) else {
                return;
            };
            tokio::time::sleep(wait).await;
        }
    }
}

/// Returns the chat that a message came from.
fn place_of(account: &InboundAccount, message: &ReceivedMessageRow) -> ButtonRecipient {
    ButtonRecipient {
        account: account.id.clone(),
        chat: message.chat.clone(),
        person: message.person.clone(),
    }
}
