//! Streams the output of a program.

use super::{Job, Piece, ProgramPermit, Programs, QUEUE, child, in_time};
use crate::VoiceError;
use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The cleanup after a program that is started for one request.
#[derive(Debug)]
pub(crate) struct Rest {
    pub(crate) job: Job,
    /// Whether the kept process failed before it had answered anything. If the job then succeeds, the program does
    /// not work as a kept process and is not retried.
    pub(crate) is_new: bool,
}

impl Programs {
    /// Runs a program and streams its output after the first byte has arrived. A program without output is an error. A
    /// later failure is the last item of the stream.
    pub(crate) async fn stream(
        &self,
        job: Job,
    ) -> Result<BoxStream<'static, Result<Bytes, VoiceError>>, VoiceError> {
        let provider = job.provider;
        let permit = self.permit(provider).await?;
        begun(provider, self.start(permit, job)).await
    }

    /// Streams like [`Self::stream`], for work that first sends the request to a kept process. The work sends at most
    /// `pieces` pieces before its deadline, and returns the job for the rest.
    pub(crate) async fn stream_after<W>(
        &self,
        provider: &'static str,
        pieces: usize,
        work: impl FnOnce(mpsc::Sender<Piece>, Instant) -> W,
    ) -> Result<BoxStream<'static, Piece>, VoiceError>
    where
        W: Future<Output = Result<Option<Rest>, VoiceError>> + Send + 'static,
    {
        let ProgramPermit { permit, until } = self.permit(provider).await?;
        // The channel has room for all pieces, so a slow reader does not delay the kept process.
        let (pieces, receiver) = mpsc::channel(pieces.max(QUEUE));
        let work = work(pieces.clone(), until);
        let (variables, warm) = (Arc::clone(&self.variables), self.warm.clone());
        self.tasks.spawn(async move {
            let whole = async {
                let rest = tokio::select! {
                    biased;
                    () = pieces.closed() => None,
                    rest = work => rest?,
                };
                let Some(Rest { job, is_new }) = rest else {
                    return Ok(());
                };
                let program = job.program.clone();
                child::drive(job, &variables, &pieces, permit).await?;
                if is_new && !pieces.is_closed() {
                    warm.give_up(program);
                }
                Ok(())
            };
            if let Err(error) = in_time(until, provider, whole).await {
                // The receiver may be closed.
                let _ = pieces.send(Err(error)).await;
            }
        });
        begun(provider, receiver).await
    }
}

/// Waits for the first piece and returns the stream of all pieces.
async fn begun(
    provider: &'static str,
    mut pieces: mpsc::Receiver<Piece>,
) -> Result<BoxStream<'static, Piece>, VoiceError> {
    let Some(first) = pieces.recv().await else {
        return Err(VoiceError::failed(provider, "returned no audio", false));
    };
    let first = stream::iter([Ok(first?)]);
    let rest = stream::unfold(pieces, |mut pieces| async move {
        pieces.recv().await.map(|piece| (piece, pieces))
    });
    Ok(first.chain(rest).boxed())
}
