//! The setup steps: from the file, or steps that fit any sender.

use super::super::check::{MAX_GUIDE, leak};
use super::super::{Mistake, mistake};
use crate::auth_mode::AuthMode;

pub(super) fn text(
    name: &str,
    mode: AuthMode,
    given: Option<&str>,
) -> Result<&'static str, Mistake> {
    let Some(given) = given else {
        let secret = if mode.secret_from_sender() {
            "store the sender's secret in this webhook"
        } else {
            "secret: {secret}"
        };
        return Ok(leak(format!(
            "1. Add a webhook in the settings of {name}. URL: {{url}}\n2. To verify deliveries, {secret}."
        )));
    };
    let given = given.trim();
    if given.chars().count() > MAX_GUIDE {
        return mistake("guide", format!("expected at most {MAX_GUIDE} characters"));
    }
    let says_secret = given.contains("{secret}")
        || given.contains("in this webhook")
        || given.contains("this webhook's secret");
    if !given.starts_with("1. ") || !given.contains("{url}") || !says_secret {
        return mistake(
            "guide",
            "expected numbered lines from `1. `, with {url}, and {secret} or `in this webhook`",
        );
    }
    Ok(leak(given))
}
