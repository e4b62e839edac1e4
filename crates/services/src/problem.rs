//! Converts failures of services to what callers may see.

use gatehouse_domain::{ErrorCode, Problem};

/// Logs a failure with its causes and returns what the caller may see. Logs at error level only if the
/// cause is internal.
pub fn to_problem<E: std::error::Error + Into<Problem>>(error: E) -> Problem {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    let problem: Problem = error.into();
    match problem.code {
        ErrorCode::Internal | ErrorCode::StorageUnavailable => {
            tracing::error!(error = text, "a call failed");
        }
        // A provider's failure or missing configuration is not a fault of this server.
        code if code.http_status() >= 500 => tracing::info!(error = text, "a call failed"),
        _ => {}
    }
    problem
}
