//! Deserializes a tool's input. Agents check the input against the schema first. This module converts it to types and
//! checks limits.

use gatehouse_agents::ToolError;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Returns the typed input.
pub(crate) fn read<T: DeserializeOwned>(input: Value) -> Result<T, ToolError> {
    serde_json::from_value(input)
        .map_err(|error| ToolError::new(format!("The input is not valid: {error}.")))
}

/// Returns a number within bounds, or the default.
pub(crate) fn within(
    name: &str,
    given: Option<u64>,
    (min, default, max): (usize, usize, usize),
) -> Result<usize, ToolError> {
    match given.map(usize::try_from) {
        None => Ok(default),
        Some(Ok(number)) if (min..=max).contains(&number) => Ok(number),
        Some(_) => Err(ToolError::new(format!(
            "{name} must be a whole number from {min} to {max}."
        ))),
    }
}

/// Trims a text, which must not be blank or longer than `max` characters.
pub(crate) fn line<'t>(name: &str, text: &'t str, max: usize) -> Result<&'t str, ToolError> {
    let trimmed = text.trim();
    if trimmed.is_empty() || text.chars().nth(max).is_some() {
        return Err(ToolError::new(format!(
            "{name} must have 1 to {max} characters."
        )));
    }
    Ok(trimmed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inclusive() {
        let bounds = (1, 5, 20);
        assert_eq!(within("n", None, bounds), Ok(5));
        assert_eq!(within("n", Some(1), bounds), Ok(1));
        assert_eq!(within("n", Some(20), bounds), Ok(20));
        for wrong in [0, 21, u64::MAX] {
            assert!(within("n", Some(wrong), bounds).is_err());
        }
        assert_eq!(line("q", " ä ", 3), Ok("ä"));
        for wrong in ["", "  ", "abcd"] {
            assert!(line("q", wrong, 3).is_err(), "{wrong:?}");
        }
    }
}
