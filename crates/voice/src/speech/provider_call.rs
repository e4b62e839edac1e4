//! One call of a provider.

use crate::VoiceError;
use crate::resources::Resources;
use crate::retry::repeated;
use crate::tts::{Speech, TtsCall, TtsId};

/// Calls a provider, repeatedly if it is hosted.
pub(super) async fn speak(
    resources: &Resources,
    id: TtsId,
    call: &TtsCall,
) -> Result<Speech, VoiceError> {
    let provider = id.provider();
    repeated(resources, &provider.about, || {
        (provider.speak)(resources, call)
    })
    .await
}
