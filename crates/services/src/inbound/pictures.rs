//! The pictures that tools returned, which are sent after the agent's answer.

use super::{Inbound, PICTURES_MIB, message_id};
use futures_util::TryStreamExt;
use gatehouse_agents::Attachment;
use gatehouse_channels::{Picture, session_key};
use gatehouse_store::{ReceivedMessageRow, StoreError};

/// Maximum number of pictures that are sent with an answer. They are in memory at the same time.
const MAX_PICTURES: usize = 4;

/// The pictures of an answer.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    chosen: Vec<Attachment>,
    /// Added to the text of the answer.
    note: Option<String>,
}

impl Pictures {
    /// Chooses the last pictures, because an agent usually answers about its last calls.
    fn of(mut all: Vec<Attachment>) -> Self {
        let count = all.len();
        let chosen = all.split_off(count.saturating_sub(MAX_PICTURES));
        let note = (count > MAX_PICTURES)
            .then(|| format!("(Only the last {MAX_PICTURES} of {count} pictures are sent.)"));
        Self { chosen, note }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// Adds a note about omitted pictures to the text of the answer.
    pub(super) fn with_note(&self, text: &str) -> String {
        match &self.note {
            Some(note) => format!("{text}\n\n{note}").trim_start().to_owned(),
            None => text.to_owned(),
        }
    }

    /// Returns the number of permits that the pictures need while they are in memory: one per MiB.
    pub(super) fn permits(&self) -> u32 {
        let bytes = self.chosen.iter().map(|file| file.size);
        let bytes = bytes.fold(0_u64, u64::saturating_add);
        let mib = u32::try_from(bytes.div_ceil(1 << 20));
        mib.map_or(PICTURES_MIB, |mib| mib.min(PICTURES_MIB))
    }
}

impl Inbound {
    /// Finds the pictures of the turn that answered a message.
    pub(super) async fn pictures_of(
        &self,
        message: &ReceivedMessageRow,
    ) -> Result<Pictures, StoreError> {
        let (key, id) = (session_key(message), message_id(message));
        let all = self.services.agents.list_pictures_of(&key, &id).await?;
        Ok(Pictures::of(all))
    }

    /// Reads the chosen pictures. An unreadable picture keeps its place, so that each attempt to send an answer has
    /// the same pictures.
    pub(super) async fn read_pictures(&self, pictures: &Pictures) -> Vec<Picture> {
        let mut read = Vec::new();
        for file in &pictures.chosen {
            let buffer = Vec::with_capacity(usize::try_from(file.size).unwrap_or_default());
            let pieces = self.services.agents.read_attachment(file);
            let data = pieces.try_fold(buffer, |mut data: Vec<u8>, piece| async move {
                data.extend_from_slice(&piece);
                Ok(data)
            });
            let picture = match data.await {
                Ok(data) => Picture::of(data.into(), file.width.zip(file.height)),
                Err(error) => {
                    tracing::warn!(%error, "a picture of a tool was not read");
                    None
                }
            };
            read.push(picture.unwrap_or_else(Picture::missing));
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::id::AttachmentId;

    fn files(count: usize) -> Vec<Attachment> {
        let file = |number: usize| Attachment {
            id: AttachmentId::from_text(number.to_string()),
            name: "chart.png".to_owned(),
            media_type: "image/png".to_owned(),
            size: 1,
            width: Some(1),
            height: Some(1),
        };
        (1..=count).map(file).collect()
    }

    #[test]
    fn four_pictures_are_sent_and_of_five_the_last_four() {
        assert!(Pictures::of(files(0)).is_empty());
        let four = Pictures::of(files(4));
        assert_eq!(four.chosen, files(4));
        assert_eq!(four.with_note("Here."), "Here.");
        let five = Pictures::of(files(5));
        assert_eq!(five.chosen, files(5)[1..]);
        assert_eq!(
            five.with_note("Here."),
            "Here.\n\n(Only the last 4 of 5 pictures are sent.)"
        );
        // An answer can have no text.
        assert_eq!(
            five.with_note(""),
            "(Only the last 4 of 5 pictures are sent.)"
        );
    }

    #[test]
    fn pictures_need_a_permit_per_mib_and_at_most_all_of_them() {
        let of = |sizes: &[u64]| {
            let mut all = files(sizes.len());
            for (file, size) in all.iter_mut().zip(sizes) {
                file.size = *size;
            }
            Pictures::of(all).permits()
        };
        assert_eq!(of(&[]), 0);
        assert_eq!((of(&[1 << 20]), of(&[1 << 20, 1])), (1, 2));
        assert_eq!(of(&[25 << 20; 4]), 100);
        assert_eq!(of(&[(25 << 20) + 1; 4]), 100, "more would wait forever");
        assert_eq!(of(&[u64::MAX; 2]), 100);
    }
}
