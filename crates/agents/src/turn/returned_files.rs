//! The files that tools return. They are stored with the answer to the call, and shown to models that read images.

use super::failure::TurnFailure;
use super::{Running, Setup};
use crate::attached_file::NewAttachment;
use crate::attachments;
use gatehouse_domain::id::AttachmentId;
use gatehouse_store::ChatMessageRow;

/// The maximum number of files per call.
const MAX_FILES: usize = 4;

/// Pictures in the form that models receive.
pub(super) type Pictures = Vec<(AttachmentId, Vec<u8>)>;

impl Running<'_> {
    /// Shows pictures to the model, if it reads images.
    pub(super) async fn show_pictures(&self, setup: &mut Setup, pictures: Pictures) {
        if pictures.is_empty() {
            return;
        }
        let models = &self.inner.models;
        let learning = models.learn_facts(&setup.model, true);
        self.turn.cancel.run_until_cancelled(learning).await;
        let files = setup.conversation.files_mut();
        files.sees = models.facts(&setup.model).vision == Some(true);
        for (id, image) in pictures {
            files.add_picture(id, image);
        }
    }

    /// Stores the files that a tool returned with its answer. Returns their pictures.
    pub(super) async fn store_answer(
        &self,
        mut row: ChatMessageRow,
        returned: Vec<NewAttachment>,
    ) -> Result<(ChatMessageRow, Pictures), TurnFailure> {
        let (mut files, mut pictures, mut attached) = (Vec::new(), Vec::new(), Vec::new());
        for new in returned.into_iter().take(MAX_FILES) {
            let picture = new.picture.clone();
            match self.inner.new_file(&self.turn.session, new) {
                Ok(file) => {
                    let attachment = file.attachment();
                    pictures.extend(picture.map(|picture| (attachment.id.clone(), picture)));
                    attached.push(attachment);
                    files.push(file.of_message(&row.id));
                }
                Err(error) => tracing::info!(%error, "a file of a tool was not stored"),
            }
        }
        row.attachments = attachments::stored(&attached).unwrap_or_default();
        let row = self.store_with(row, files).await?;
        Ok((row, pictures))
    }
}
