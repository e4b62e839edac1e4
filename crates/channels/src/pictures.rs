//! Sends the pictures of a message after its text.

use crate::error::Failure;
use crate::handle::Inner;
use crate::media::Media;
use crate::metrics;
use crate::senders::Part;
use std::time::Duration;

/// The maximum number of attempts to send a picture if the vendor asks to wait.
const ATTEMPTS: u32 = 3;
/// The longest wait before a picture is sent again. If the vendor asks for a longer wait, the
/// picture is omitted, because later messages wait for it.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

impl Inner {
    /// Sends the pictures of a message. Omits pictures that the vendor does not accept, and then sends a text with
    /// their number. An earlier attempt has sent or omitted the first `handled` parts of the message, where texts and
    /// pictures both count as parts. `part.number` is the number of texts.
    pub(crate) async fn send_pictures(
        &self,
        part: Part<'_>,
        handled: usize,
    ) -> Result<(), Failure> {
        let pictures = part.message.pictures;
        let mut left_out = 0_usize;
        let before = handled.saturating_sub(part.number);
        for (at, picture) in pictures.iter().enumerate().skip(before) {
            let sent = if picture.is_missing() {
                Err(Failure::refused("The picture is no longer stored."))
            } else {
                let media = picture.media(at + 1, part.id);
                self.send_picture(part, &media).await
            };
            metrics::picture(part.account.sender.about().kind, &sent);
            if let Err(failure) = sent {
                let account = &part.account.id;
                tracing::warn!(account, ?failure, "a picture was not sent");
                left_out += 1;
            }
            self.note_parts(part.id, part.number + at + 1).await?;
        }
        if left_out > 0 {
            let note = left_out_note(left_out);
            let part = Part {
                text: &note,
                number: part.number + pictures.len(),
                ..part
            };
            // The text has been sent. A failure of this part must not cause the message to be sent
            // again.
            if let Err(failure) = part.account.sender.send(part).await {
                let account = &part.account.id;
                tracing::warn!(account, ?failure, "the note about a picture was not sent");
            }
        }
        Ok(())
    }

    /// Sends a picture. Repeats the request only if the vendor asks for that. After any other failure, the vendor may
    /// have the picture.
    async fn send_picture(&self, part: Part<'_>, media: &Media) -> Result<(), Failure> {
        let none = || Failure::refused("This channel has no pictures.");
        let receiver = part.account.sender.receiver().ok_or_else(none)?;
        if media.data.len() > receiver.max_picture_bytes().ok_or_else(none)? {
            let why = "The picture is larger than the channel accepts.";
            return Err(Failure::refused(why));
        }
        let keys = receiver.place_keys();
        let chat = part.need(keys.chat)?;
        let thread = keys.thread.and_then(|key| part.message.extra(key));
        let mut attempt = 1;
        loop {
            let source = self.source(part.account);
            let sending = receiver.send_media(source, &chat, thread.as_deref(), media);
            let Err(failure) = sending.await else {
                return Ok(());
            };
            match failure {
                Failure::Later {
                    after: Some(after), ..
                } if attempt < ATTEMPTS && after <= LONGEST_WAIT => {
                    tokio::time::sleep(after).await;
                    attempt += 1;
                }
                failure => return Err(failure),
            }
        }
    }
}

/// Returns the sentence about pictures that were not sent.
pub(crate) fn left_out_note(count: usize) -> String {
    if count == 1 {
        "(A picture could not be sent.)".to_owned()
    } else {
        format!("({count} pictures could not be sent.)")
    }
}
