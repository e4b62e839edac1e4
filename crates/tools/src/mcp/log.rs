//! Logs the standard error of a server's program at debug level, with its secrets masked.

use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::ChildStderr;

/// The maximum length of a line, in bytes. Longer lines are split.
const MAX_LINE_BYTES: u64 = 4096;
/// The minimum length of a secret, in bytes. Shorter values occur in ordinary text and are not
/// treated as secrets.
const MIN_SECRET_BYTES: usize = 6;

/// Logs a program's standard error until it closes.
#[expect(
    clippy::disallowed_methods,
    reason = "it ends with the program, whose task shutdown waits for, and owns nothing else"
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
                        tracing::debug!(%server, text, "output of an MCP server");
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
