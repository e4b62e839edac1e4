//! Transcripts that arrive piece by piece.

use super::SttCall;
use crate::VoiceError;
use crate::resources::Resources;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use serde::{Deserialize, Serialize};
use url::Url;

/// The streaming transcription of a provider.
#[derive(Debug)]
pub(crate) struct Streaming {
    /// Returns whether this model at this address streams.
    pub(crate) can: fn(Option<&str>, Option<&Url>) -> bool,
    /// Starts the transcription and waits for its first piece.
    pub(crate) begin: for<'a> fn(
        &'a Resources,
        &'a SttCall,
    ) -> BoxFuture<'a, Result<TranscriptStream, VoiceError>>,
}

/// A transcript as it arrives. An error is the last item.
pub type TranscriptStream = BoxStream<'static, Result<TranscriptPiece, VoiceError>>;

/// A piece of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranscriptPiece {
    /// A piece of the text.
    Text(String),
    /// The whole text, which is the last piece.
    Done {
        text: String,
        usage: Option<TokenUsage>,
    },
}

/// The token counts that a vendor reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub total_tokens: u64,
}

/// Returns the pieces of a transcript that is complete.
pub(crate) fn pieces_of(text: String) -> TranscriptStream {
    let first = (!text.is_empty()).then(|| Ok(TranscriptPiece::Text(text.clone())));
    let last = Ok(TranscriptPiece::Done { text, usage: None });
    stream::iter(first.into_iter().chain([last])).boxed()
}
