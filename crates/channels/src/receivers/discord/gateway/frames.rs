//! Frames that the gateway sends.

use super::{Connection, Listening, Next, Session};
use crate::receive::ReceiveError;
use crate::receivers::discord::buttons::press_of;
use crate::receivers::discord::events::{Message, Payload, Ready, message_of};

impl Listening {
    pub(super) async fn take(
        &mut self,
        connection: &mut Connection,
        text: &str,
    ) -> Result<Next, ReceiveError> {
        let Ok(payload) = serde_json::from_str::<Payload>(text) else {
            return Ok(Next::Wait);
        };
        match payload.op {
            0 => Ok(self.dispatch(&payload)),
            1 => {
                self.beat(connection).await?;
                Ok(Next::Wait)
            }
            7 => Ok(Next::Reconnect),
            9 if payload.data::<bool>() == Some(true) => Ok(Next::Reconnect),
            9 => Ok(Next::Identify),
            11 => {
                connection.heartbeat.is_acknowledged = true;
                Ok(Next::Wait)
            }
            _ => Ok(Next::Wait),
        }
    }

    fn dispatch(&mut self, payload: &Payload) -> Next {
        if payload.event.as_deref() == Some("READY") {
            let Some(ready) = payload.data::<Ready>() else {
                return Next::Reconnect;
            };
            self.is_resume_url_bad = false;
            self.session = Some(Session {
                id: ready.session_id,
                seq: payload.seq.unwrap_or_default(),
                resume_url: ready.resume_gateway_url,
                bot_id: ready.user.id,
                base: self.base.clone(),
            });
            return Next::Begun;
        }
        let Some(session) = &mut self.session else {
            return Next::Wait;
        };
        session.seq = payload.seq.unwrap_or(session.seq);
        match payload.event.as_deref() {
            Some("RESUMED") => {
                self.is_resume_url_bad = false;
                Next::Wait
            }
            Some(event @ ("MESSAGE_CREATE" | "MESSAGE_UPDATE")) => {
                let is_edit = event == "MESSAGE_UPDATE";
                let message = payload
                    .data()
                    .filter(|it: &Message| !is_edit || it.is_edited())
                    .and_then(|it| message_of(it, &session.bot_id));
                message.map_or(Next::Wait, |message| Next::Message(Box::new(message)))
            }
            Some("INTERACTION_CREATE") => {
                let press = payload.data().and_then(press_of);
                press.map_or(Next::Wait, |press| Next::Press(Box::new(press)))
            }
            _ => Next::Wait,
        }
    }
}
