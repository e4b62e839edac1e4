//! Reads an answer without letting it fill the memory.

use crate::OutboundError;
use reqwest::Response;

/// Reads at most `max_bytes` of the decompressed body and says whether there was more. What is beyond is
/// never unpacked, so a small compressed answer cannot grow large here.
pub async fn read_capped(
    mut response: Response,
    max_bytes: usize,
) -> Result<(Vec<u8>, bool), OutboundError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = max_bytes - body.len();
        match chunk.get(..room) {
            Some(fits) if chunk.len() > room => {
                body.extend_from_slice(fits);
                return Ok((body, true));
            }
            _ => body.extend_from_slice(&chunk),
        }
    }
    Ok((body, false))
}
