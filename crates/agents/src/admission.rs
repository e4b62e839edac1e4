//! Refuses texts whose turn may not call a model.

use crate::budgets::find_exhausted;
use crate::error::AgentsError;
use crate::handle::Inner;
use crate::presets::choose_agent;
use crate::send::{Origin, SendRequest};
use crate::usage::Cause;
use gatehouse_domain::id::{DeliveryId, SessionId};
use gatehouse_store::{Conn, StoreError};

impl Inner {
    /// Refuses a text before it is stored if a budget that applies to its turn is used up. The budget of the model is
    /// checked later by the turn, because the model is not known yet.
    pub(crate) async fn check_budgets(
        &self,
        request: &SendRequest,
        session: &SessionId,
    ) -> Result<(), AgentsError> {
        let (id, wanted) = (session.clone(), request.agent.clone());
        let delivery = match &request.origin {
            Origin::Webhook { delivery, .. } => Some(delivery.clone()),
            Origin::Chat | Origin::Api | Origin::Channel { .. } => None,
        };
        let api_key = Cause::api_key_of(&request.actor.name);
        let now = self.clock.now();
        let read = self.store.read(move |conn| {
            Box::pin(async move {
                let session = conn.find_chat_session(&id).await?;
                let cause = Cause {
                    agent: choose_agent(conn, wanted, session.map(|row| row.agent_id)).await?,
                    webhook: find_webhook(conn, delivery.as_ref()).await?,
                    api_key,
                };
                Ok::<_, AgentsError>(find_exhausted(conn, &cause, None, &[], now).await?)
            })
        });
        match read.await? {
            None => Ok(()),
            Some(exhausted) => Err(exhausted.into()),
        }
    }
}

/// Returns the ID of the webhook that received a delivery, or an empty string.
pub(crate) async fn find_webhook(
    conn: &mut Conn,
    delivery: Option<&DeliveryId>,
) -> Result<String, StoreError> {
    let Some(delivery) = delivery else {
        return Ok(String::new());
    };
    let row = conn.find_delivery(delivery.as_str()).await?;
    Ok(row.map_or_else(String::new, |row| row.webhook_id.to_string()))
}
