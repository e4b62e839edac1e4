//! Transcripts that arrive in pieces.

use super::request::TranscribeRequest;
use super::transcript::{Heard, Transcript, Want, transcript};
use crate::resources::Resources;
use crate::retry::repeated;
use crate::stt::{Streaming, SttCall, SttId, TranscriptPiece, TranscriptStream, pieces_of};
use crate::usage::{self, Counting};
use crate::{Voice, VoiceError};
use futures_util::StreamExt;
use futures_util::stream;

/// A complete transcript, or a stream of its pieces.
pub(crate) enum Hearing {
    Whole(Box<Transcript>),
    Pieces(TranscriptStream),
}

impl Voice {
    /// Transcribes audio. If the provider streams the text, it arrives in pieces, otherwise in one piece. Fallbacks are
    /// tried only before the first piece. Dropping the stream cancels the work.
    pub async fn transcribe_stream(
        &self,
        request: TranscribeRequest,
    ) -> Result<TranscriptStream, VoiceError> {
        Ok(match self.transcribe_as_it_comes(request).await? {
            Hearing::Whole(transcript) => pieces_of(transcript.text),
            Hearing::Pieces(pieces) => pieces,
        })
    }

    /// Transcribes like [`Self::transcribe_stream`]. The result has all data of a complete
    /// transcript.
    pub(crate) async fn transcribe_as_it_comes(
        &self,
        request: TranscribeRequest,
    ) -> Result<Hearing, VoiceError> {
        let span = self.begin_request("api.transcription");
        match span.run(self.recognize(request, Want::Pieces)).await {
            Ok((id, Heard::Whole(recognized), looked, attempts)) => {
                let transcript = transcript(id, recognized, &looked, attempts);
                span.end(Ok(Hearing::Whole(Box::new(transcript))))
            }
            Ok((_, Heard::Pieces(pieces), _, _)) => Ok(Hearing::Pieces(span.until_end(pieces))),
            Err(error) => span.end(Err(error)),
        }
    }
}

/// Starts a stream and waits for its first piece.
pub(super) async fn begun(
    resources: &Resources,
    (id, streaming): (SttId, &Streaming),
    call: &SttCall,
    duration_ms: u64,
) -> Result<TranscriptStream, VoiceError> {
    let counting = usage::begin_transcript(id, resources, call.setup());
    let about = &id.provider().about;
    let pieces = repeated(resources, about, || (streaming.begin)(resources, call));
    match pieces.await {
        Ok(pieces) => Ok(watched(pieces, counting, id, duration_ms)),
        Err(error) => counting.of(Err(error)),
    }
}

/// Records the metrics at the end. A stream that is dropped before its end is not recorded.
fn watched(
    pieces: TranscriptStream,
    counting: Counting,
    id: SttId,
    duration_ms: u64,
) -> TranscriptStream {
    let state = Some((pieces, counting));
    let watched = stream::unfold(state, move |state| async move {
        let (mut pieces, counting) = state?;
        match pieces.next().await? {
            Err(error) => Some((counting.of(Err(error)), None)),
            Ok(piece @ TranscriptPiece::Done { .. }) => {
                usage::recognized(id, duration_ms);
                Some((counting.of(Ok(piece)), None))
            }
            piece => Some((piece, Some((pieces, counting)))),
        }
    });
    watched.boxed()
}
