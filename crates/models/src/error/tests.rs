//! Tests of the parent module.

use super::*;

#[test]
fn each_error_has_a_code_and_a_message() {
    let failed = |status, retryable| ModelError::Failed {
        provider: "p".to_owned(),
        status,
        reason: status.map(|status| match status {
            401 => Reason::KeyRejected,
            _ => Reason::ServerError,
        }),
        retryable,
        retry_after: None,
        vendor_message: None,
    };
    for (error, code, text) in [
        (failed(Some(401), false), "PROVIDER_FAILED", "key"),
        (failed(Some(500), true), "PROVIDER_FAILED", "500"),
        (failed(None, true), "PROVIDER_FAILED", "reached"),
        (failed(None, false), "PROVIDER_FAILED", "invalid response"),
        (
            ModelError::Timeout {
                provider: "p".to_owned(),
            },
            "TIMEOUT",
            "in time",
        ),
        (ModelError::Sealed, "VAULT_SEALED", "sealed"),
        (
            ModelError::not_configured("models", "Do this."),
            "NOT_CONFIGURED",
            "Do this.",
        ),
    ] {
        let retryable = error.is_retryable();
        let problem = Problem::from(error);
        assert_eq!(problem.code.name(), code);
        assert!(problem.message.contains(text), "{}", problem.message);
        if code == "PROVIDER_FAILED" {
            assert_eq!(problem.details["provider"], "p");
            assert_eq!(problem.details["retryable"], retryable);
        }
    }
}
