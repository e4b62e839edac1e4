//! Usage errors that clap does not detect, such as two flags that exclude each other. They have clap's exit code.

use anyhow::{Error, Result};
use gatehouse_config::ConfigError;
use std::process::ExitCode;

/// The exit code of usage errors, equal to clap's.
const CODE: u8 = 2;

/// The message for a change without a changed field.
pub const NO_CHANGES: &str = "no changes were given";

/// A mistake in the command line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

/// Creates a usage error.
pub fn wrong(message: impl Into<String>) -> Error {
    UsageError(message.into()).into()
}

/// Fails with a usage error unless `is_right`.
pub fn ensure(is_right: bool, message: &str) -> Result<()> {
    if is_right {
        Ok(())
    } else {
        Err(wrong(message))
    }
}

/// Returns the exit code of a command that failed.
pub fn exit_code(error: &Error) -> ExitCode {
    ExitCode::from(if is_usage(error) { CODE } else { 1 })
}

fn is_usage(error: &Error) -> bool {
    let wrong_setting = error.downcast_ref::<ConfigError>();
    error.is::<UsageError>() || wrong_setting.is_some_and(|it| it.place.starts_with("--"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};

    #[test]
    fn a_usage_error_stays_one_with_context() {
        assert!(is_usage(&wrong("--keep needs a directory")));
        let inner: Result<()> = Err(wrong("not a URL"));
        assert!(is_usage(&inner.context("--to").unwrap_err()));
        assert!(ensure(true, "").is_ok());
        assert!(is_usage(&ensure(false, NO_CHANGES).unwrap_err()));
        assert!(!is_usage(&anyhow!("the disk is full")));
    }
}
