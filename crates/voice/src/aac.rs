//! AAC, by an installed ffmpeg.
use crate::VoiceError;
use crate::programs::Programs;
use bytes::Bytes;
pub(crate) fn find(_: &Programs) -> Result<(), VoiceError> {
    Err(VoiceError::not_configured("ffmpeg", "no"))
}
pub(crate) async fn aac(programs: &Programs, _: Bytes) -> Result<Bytes, VoiceError> {
    find(programs)?;
    Ok(Bytes::new())
}
