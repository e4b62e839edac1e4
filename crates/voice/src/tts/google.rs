//! To be written.

use super::{Speech, Tts, TtsCall};
use crate::VoiceError;
use crate::means::Means;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// To be written.
#[derive(Debug)]
pub(super) struct Google;

impl Tts for Google {
    fn speak<'a>(
        &'a self,
        _: &'a Means,
        _: &'a TtsCall,
    ) -> BoxFuture<'a, Result<Speech, VoiceError>> {
        async { Err(VoiceError::Internal("not written yet")) }.boxed()
    }
}
