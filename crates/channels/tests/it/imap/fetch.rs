//! Answers to FETCH, including unreadable answers.

use super::{Talk, say};
use tokio::io::{AsyncWrite, AsyncWriteExt};

impl Talk<'_> {
    /// Sends parts of emails. Returns `None` if the connection ends.
    pub(super) async fn fetch<S: AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
        chosen: Vec<(usize, u32, String)>,
        (section, count): (String, usize),
    ) -> Option<&'static str> {
        for (number, uid, mail) in chosen {
            let whole = match section.as_str() {
                "HEADER" => &mail[..mail.find("\r\n\r\n").map_or(mail.len(), |at| at + 4)],
                _ => mail.as_str(),
            };
            let part = &whole.as_bytes()[..whole.len().min(count)];
            let start = format!(
                "* {number} FETCH (UID {uid} RFC822.SIZE {} BODY[{section}]<0> {{{}}}\r\n",
                mail.len(),
                part.len()
            );
            let (is_cut, is_unreadable) = self.server.with(|state| {
                let is_cut = state.cuts > 0;
                state.cuts = state.cuts.saturating_sub(1);
                if state.offers.vanishing == Some(uid) {
                    state.mails.retain(|(it, _)| *it != uid);
                }
                (is_cut, state.offers.unreadable == Some(uid))
            });
            if is_unreadable {
                say(stream, &format!("* {number} FETCH (UID {uid} BODY[\r\n")).await;
                continue;
            }
            let _gone = stream.write_all(start.as_bytes()).await;
            if is_cut {
                let _gone = stream.write_all(&part[..part.len() / 2]).await;
                let _gone = stream.flush().await;
                return None;
            }
            if self.offers.stops {
                let _gone = stream.flush().await;
                std::future::pending::<()>().await;
            }
            let _gone = stream.write_all(part).await;
            say(stream, ")\r\n").await;
        }
        Some("OK done")
    }
}
