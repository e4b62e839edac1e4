//! Checks patterns against the names that exist.

use super::{FIELD, Only, Pattern, TargetKinds, Targets};
use crate::api::KeyPreset;
use crate::error::AuthError;
use crate::state::Auth;

impl Auth {
    /// Registers the names that `only` can contain. Until this call, no name is rejected.
    pub fn name_targets(&self, targets: Targets) {
        // A second call has no effect.
        drop(self.0.targets.set(targets));
    }

    pub(crate) fn presets(&self) -> Vec<KeyPreset> {
        let targets = self.0.targets.get();
        targets
            .map(|targets| targets.presets.clone())
            .unwrap_or_default()
    }

    /// Parses patterns. Each must match an existing name.
    pub(crate) fn read_only(
        &self,
        texts: Option<&[String]>,
        reach: TargetKinds,
    ) -> Result<Option<Only>, AuthError> {
        let Some(only) = texts.map(Only::parse).transpose()? else {
            return Ok(None);
        };
        let targets = self.0.targets.get();
        let matches_some = |pattern: &Pattern| {
            let is_path = pattern.to_string().starts_with('/');
            match (targets, reach) {
                (_, TargetKinds::Methods) if is_path => false,
                (None, _) => true,
                (Some(targets), _) => {
                    let known = if is_path {
                        &targets.paths
                    } else {
                        &targets.methods
                    };
                    known.iter().any(|name| pattern.matches(name))
                }
            }
        };
        match only.0.iter().find(|pattern| !matches_some(pattern)) {
            None => Ok(Some(only)),
            Some(pattern) => {
                let reason = match reach {
                    TargetKinds::MethodsAndPaths => {
                        format!(
                            "`{pattern}` matches no method and no path that requires a credential"
                        )
                    }
                    TargetKinds::Methods => {
                        format!("`{pattern}` matches no method; devices cannot call paths")
                    }
                };
                Err(AuthError::field(FIELD, reason))
            }
        }
    }
}
