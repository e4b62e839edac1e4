//! What a server's program writes to standard error, for the log at debug level, without the secrets that
//! it was given.

use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::ChildStderr;

/// The longest line; a longer one is cut into several.
const MAX_LINE_BYTES: u64 = 4096;
/// Values shorter than this are in every other word; they are no secrets.
const MIN_SECRET_BYTES: usize = 6;

/// Follows a program's standard error to its end.
#[expect(
    clippy::disallowed_methods,
    reason = "it ends with the program, whose task shutdown waits for, and holds nothing else"
)]
pub(super) fn follow(server: String, stderr: ChildStderr, secrets: Vec<SecretString>) {
    tokio::spawn(async move {
        let mut lines = BufReader::new(stderr);
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut bounded = (&mut lines).take(MAX_LINE_BYTES);
            match bounded.read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    let text = String::from_utf8_lossy(&line);
                    let text = masked(crate::text::readable(&text), &secrets);
                    if !text.is_empty() {
                        tracing::debug!(%server, text, "an MCP server says");
                    }
                }
            }
        }
    });
}

fn masked(mut text: String, secrets: &[SecretString]) -> String {
    for secret in secrets.iter().map(ExposeSecret::expose_secret) {
        for part in secret.lines().filter(|part| part.len() >= MIN_SECRET_BYTES) {
            if text.contains(part) {
                text = text.replace(part, "••••");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked() {
        let secrets = ["hunter2-token", "info", "line one\nline two"].map(SecretString::from);
        let said = "info: token=hunter2-token, line two".to_owned();
        assert_eq!(masked(said, &secrets), "info: token=••••, ••••");
    }
}
