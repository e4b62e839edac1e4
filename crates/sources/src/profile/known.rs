//! The list of profiles: vendors' profiles, and profiles that users added as files.

use std::collections::HashSet;
use std::sync::{LazyLock, OnceLock};

use super::Profile;
use crate::profile_file::{self, ProfileFile};
use crate::vendors::{self, FileVendor};

/// The profiles that users added. Set once, before a profile is looked up.
static ADDED: OnceLock<Vec<ProfileFile>> = OnceLock::new();
/// The profiles in vendors' folders without code.
static IN_FILES: LazyLock<Vec<ProfileFile>> = LazyLock::new(|| {
    let read = |vendor: &FileVendor| {
        profile_file::parse(vendor.folder, vendor.profile, Some(vendor.sample))
    };
    // A test parses each, so none is left out.
    vendors::IN_FILES
        .iter()
        .filter_map(|vendor| read(vendor).ok())
        .collect()
});

static ALL: LazyLock<Vec<&'static Profile>> = LazyLock::new(|| {
    let in_code = vendors::ALL.iter().filter_map(|vendor| vendor.profile);
    let (clock, senders): (Vec<_>, Vec<_>) = in_code.partition(|profile| profile.id == SCHEDULE);
    let in_files = in_files().map(|file| file.profile);
    senders.into_iter().chain(in_files).chain(clock).collect()
});

/// Why profiles could not be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// The ID of a profile, or the name of its mode, already exists.
    #[error("the profile `{0}` already exists")]
    Exists(&'static str),
    /// Profiles were added or used before.
    #[error("profiles can be added only at the start")]
    TooLate,
}

/// Adds the profiles of users' files. Call it at most once, before a profile or a mode is looked up.
pub fn add(files: Vec<ProfileFile>) -> Result<(), AddError> {
    let mut ids: HashSet<&str> = HashSet::new();
    let in_code = vendors::ALL.iter().filter_map(|vendor| vendor.profile);
    ids.extend(in_code.clone().map(|profile| profile.id));
    ids.extend(in_code.filter_map(|profile| profile.alias));
    ids.extend(IN_FILES.iter().map(|file| file.profile.id));
    let mut modes: HashSet<&str> = HashSet::new();
    let in_code = vendors::ALL.iter().flat_map(|vendor| vendor.modes);
    modes.extend(in_code.clone().map(|mode| mode.name));
    modes.extend(in_code.filter_map(|mode| mode.alias));
    modes.extend(
        IN_FILES
            .iter()
            .filter_map(|file| file.mode)
            .map(|mode| mode.name),
    );
    for file in &files {
        let is_new = file.mode.is_none_or(|mode| modes.insert(mode.name));
        if !ids.insert(file.profile.id) || !is_new {
            return Err(AddError::Exists(file.profile.id));
        }
    }
    ADDED.set(files).map_err(|_| AddError::TooLate)
}

/// The profiles in files: vendors' profiles, then the ones that users added.
pub(crate) fn in_files() -> impl Iterator<Item = &'static ProfileFile> {
    IN_FILES.iter().chain(ADDED.get_or_init(Vec::new))
}

/// Returns every profile, in display order.
pub fn all() -> &'static [&'static Profile] {
    &ALL
}

/// The ID of the profile for schedules.
pub const SCHEDULE: &str = vendors::schedule::ID;

/// Returns the profile for senders without a profile.
pub fn generic() -> &'static Profile {
    &vendors::generic::PROFILE
}

/// Finds a profile by ID or alias.
pub fn find(id_or_alias: &str) -> Option<&'static Profile> {
    all()
        .iter()
        .find(|profile| profile.id == id_or_alias || profile.alias == Some(id_or_alias))
        .copied()
}
