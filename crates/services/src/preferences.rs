//! Saved filters and prompts: what users save in the web UI.

use crate::Services;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_store::{PreferenceRow, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maximum number of entries of a kind.
const MAX_ENTRIES: i64 = 100;
/// Maximum length of a name in characters.
const MAX_NAME: usize = 60;
/// Maximum length of a value in characters.
const MAX_VALUE: usize = 10_000;

/// A kind of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreferenceKind {
    /// Filters of deliveries. The value is a query of the page's URL.
    SavedFilters,
    /// Prompts. The value is the text.
    Prompts,
}

impl PreferenceKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::SavedFilters => "saved_filters",
            Self::Prompts => "prompts",
        }
    }
}

/// Identifies an entry.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreferenceName {
    pub kind: PreferenceKind,
    pub name: String,
}

/// An entry to save.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPreference {
    pub kind: PreferenceKind,
    /// One line of text, unique within the kind.
    #[schemars(length(min = 1, max = 60))]
    pub name: String,
    /// The query of the page's URL, or the text of the prompt.
    #[schemars(length(min = 1, max = 10_000))]
    pub value: String,
}

/// A saved filter or a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Preference {
    pub name: String,
    pub value: String,
}

/// All entries, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Preferences {
    pub saved_filters: Vec<Preference>,
    pub prompts: Vec<Preference>,
}

impl Preferences {
    fn of(rows: Vec<PreferenceRow>) -> Self {
        let mut all = Self::default();
        for PreferenceRow { kind, name, value } in rows {
            let entries = match kind.as_str() {
                "saved_filters" => &mut all.saved_filters,
                "prompts" => &mut all.prompts,
                // A later version may have more kinds.
                _ => continue,
            };
            entries.push(Preference { name, value });
        }
        all
    }
}

/// An entry could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum PreferencesError {
    #[error("the {field} is refused: {reason}")]
    Invalid { field: &'static str, reason: String },
    #[error("there are already {MAX_ENTRIES} entries of this kind")]
    TooMany,
    #[error("the entry does not exist")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<PreferencesError> for Problem {
    fn from(error: PreferencesError) -> Self {
        match error {
            PreferencesError::Invalid { field, reason } => Self::invalid_params(field, reason),
            PreferencesError::TooMany => Self::new(
                ErrorCode::Conflict,
                format!("{MAX_ENTRIES} entries of this kind are saved. Delete one and try again."),
            ),
            PreferencesError::NotFound => Self::not_found("entry"),
            PreferencesError::Store(error) => error.into(),
        }
    }
}

fn checked(new: NewPreference) -> Result<PreferenceRow, PreferencesError> {
    let NewPreference { kind, name, value } = new;
    let is_line = !name.trim().is_empty() && !name.contains(char::is_control);
    if !is_line || name.chars().count() > MAX_NAME {
        return Err(PreferencesError::Invalid {
            field: "name",
            reason: format!("one line of 1 to {MAX_NAME} characters"),
        });
    }
    if value.trim().is_empty() || value.contains('\0') || value.chars().count() > MAX_VALUE {
        return Err(PreferencesError::Invalid {
            field: "value",
            reason: format!("1 to {MAX_VALUE} characters, without U+0000"),
        });
    }
    Ok(PreferenceRow {
        kind: kind.as_str().to_owned(),
        name,
        value,
    })
}

impl Services {
    /// Returns all entries.
    pub async fn list_preferences(&self) -> Result<Preferences, PreferencesError> {
        let read = self.store.read(|conn| {
            Box::pin(async move {
                Ok::<_, PreferencesError>(Preferences::of(conn.list_preferences().await?))
            })
        });
        read.await
    }

    /// Saves an entry, replacing the one with the same kind and name.
    pub async fn set_preference(&self, new: NewPreference) -> Result<(), PreferencesError> {
        let row = checked(new)?;
        let now = self.clock.now();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let others = conn.count_other_preferences(&row.kind, &row.name);
                if others.await? >= MAX_ENTRIES {
                    return Err(PreferencesError::TooMany);
                }
                conn.update_preference(&row).await?;
                conn.insert_change("preferences", now).await?;
                Ok(())
            })
        });
        write.await
    }

    /// Deletes an entry.
    pub async fn delete_preference(&self, entry: PreferenceName) -> Result<(), PreferencesError> {
        // No stored name contains NUL, which PostgreSQL refuses.
        if entry.name.contains('\0') {
            return Err(PreferencesError::NotFound);
        }
        let now = self.clock.now();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let kind = entry.kind.as_str();
                if !conn.delete_preference(kind, &entry.name).await? {
                    return Err(PreferencesError::NotFound);
                }
                conn.insert_change("preferences", now).await?;
                Ok(())
            })
        });
        write.await
    }
}

#[cfg(test)]
mod tests;
