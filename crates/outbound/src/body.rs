//! Reads a response body with a size limit.

use crate::OutboundError;
use reqwest::Response;

/// Reads at most `max_bytes` of the decompressed body and reports whether there was more. Stops decompressing at
/// the limit, so that a small compressed response cannot exhaust memory.
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
