//! Tests of the parent module.

use super::*;
use gatehouse_domain::ErrorCode;
use gatehouse_domain::Problem;

#[test]
fn a_refused_prompt_names_its_server() {
    let problem = Problem::from(McpError::Refused {
        server: "py".to_owned(),
        said: "no such style".to_owned(),
    });
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["provider"], "py");
    assert_eq!(problem.details["retryable"], false);
}
