//! To be written.

use super::{Heard, Stt, SttCall};
use crate::VoiceError;
use crate::means::Means;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// To be written.
#[derive(Debug)]
pub(super) struct SherpaOnnx;

impl Stt for SherpaOnnx {
    fn listen<'a>(
        &'a self,
        _: &'a Means,
        _: &'a SttCall,
    ) -> BoxFuture<'a, Result<Heard, VoiceError>> {
        async { Err(VoiceError::Internal("not written yet")) }.boxed()
    }
}
