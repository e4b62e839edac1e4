//! Converts failures of services to problems that callers may see.

use gatehouse_domain::{ErrorCode, Problem};

/// Logs a failure with its causes and returns the problem for the caller. Logs at error level only if the cause is
/// internal.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Records the level of each event.
    #[derive(Clone, Default)]
    struct Levels(Arc<std::sync::Mutex<Vec<tracing::Level>>>);

    impl tracing::Subscriber for Levels {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            let level = *event.metadata().level();
            self.0.lock().unwrap().push(level);
        }
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }

    #[derive(Debug, thiserror::Error)]
    #[error("it failed")]
    struct Failure(ErrorCode);

    impl From<Failure> for Problem {
        fn from(Failure(code): Failure) -> Self {
            Self::new(code, "It failed.")
        }
    }

    #[test]
    fn only_what_is_our_fault_is_logged_as_an_error() {
        let (error, info) = (tracing::Level::ERROR, tracing::Level::INFO);
        for (code, expected) in [
            (ErrorCode::Internal, Some(error)),
            (ErrorCode::StorageUnavailable, Some(error)),
            (ErrorCode::NotConfigured, Some(info)),
            (ErrorCode::Timeout, Some(info)),
            (ErrorCode::ProviderFailed, Some(info)),
            (ErrorCode::InvalidParams, None),
            (ErrorCode::NotFound, None),
        ] {
            let levels = Levels::default();
            let problem =
                tracing::subscriber::with_default(levels.clone(), || to_problem(Failure(code)));
            assert_eq!(problem.code, code);
            let seen = levels.0.lock().unwrap().first().copied();
            assert_eq!(seen, expected, "{code:?}");
        }
    }
}
