//! Sends pairing codes to new senders.

use super::{BACKOFF, CODE_SENDS, CODE_WAIT};
use crate::Services;
use crate::inbound::Inbound;
use crate::own_messages::SOURCE;
use gatehouse_channels::{InboundAccount, Outgoing, PairingRequest, SendError};
use gatehouse_domain::Timestamp;
use std::time::Duration;

/// Sends a code if no other people read the conversation. A person who does not get the code can request another
/// one after an hour.
pub(super) async fn send_code(
    inbound: &Inbound,
    account: &InboundAccount,
    request: &PairingRequest,
    tries: u32,
) -> Result<(), SendError> {
    // All attempts use the same time, so that they are the same message.
    let at = inbound.services.clock.now();
    let mut sends = 1;
    loop {
        let error = match try_send_code(&inbound.services, account, (request, at), tries).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let SendError::Retry { after, .. } = &error else {
            return Err(error);
        };
        let Some(wait) = code_wait(*after, sends) else {
            return Err(error);
        };
        inbound.pause(wait).await;
        if inbound.shutdown.is_cancelled() {
            return Err(error);
        }
        sends += 1;
    }
}

/// Returns the delay before a code is sent again after `sends` sends; `None` if it is not sent again.
pub(super) fn code_wait(after: Option<Duration>, sends: u32) -> Option<Duration> {
    let wait = after.unwrap_or(BACKOFF.0);
    (sends < CODE_SENDS && wait <= CODE_WAIT).then_some(wait)
}

async fn try_send_code(
    services: &Services,
    account: &InboundAccount,
    (request, at): (&PairingRequest, Timestamp),
    tries: u32,
) -> Result<(), SendError> {
    let channels = &services.channels;
    let mut looks = 1;
    while !channels
        .is_private(&account.id, &request.chat, &request.person)
        .await?
    {
        if looks == tries {
            tracing::warn!(
                account = account.id,
                "a pairing code was not sent, because other people would read it"
            );
            return Ok(());
        }
        tokio::time::sleep(BACKOFF.0.saturating_mul(looks)).await;
        looks += 1;
    }
    let mut text = format!(
        "Your pairing code is {}. The owner can approve it within one hour.",
        request.code
    );
    if let Some(note) = request.note {
        text.push(' ');
        text.push_str(note);
    }
    let thread = request.thread.as_deref();
    let extra = channels.address(&account.id, &request.chat, thread).await?;
    let message = Outgoing {
        target: &account.target(),
        text: &text,
        is_json: false,
        extra: &extra,
        source: SOURCE,
        at,
        delivery: None,
        pictures: &[],
        links: &[],
    };
    channels.send(message).await
}
