//! GitLab sends the secret itself.

use crate::auth_mode::Mode;
use crate::verify::scheme::Method;

/// <https://docs.gitlab.com/user/project/integrations/webhooks/>
pub(super) static MODE: Mode = Mode {
    name: "codehost_b_token",
    alias: Some("gitlab_token"),
    label: "GitLab token (X-Gitlab-Token)",
    description: "The secret is sent in `X-Codehost-B-Token`.",
    proof: "Each request carries the header X-Codehost-B-Token: {secret}",
    secret_from_sender: false,
    method: Method::Token(&["x-codehost-b-token", "x-gitlab-token"]),
};
