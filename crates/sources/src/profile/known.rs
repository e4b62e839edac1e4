//! The list of profiles: vendors' profiles, and profiles that users added as files.

use std::collections::HashSet;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::Profile;
use crate::auth_mode::AuthMode;
use crate::profile_file::{self, ProfileFile};
use crate::vendors::{self, FileVendor};

/// The profiles in vendors' folders without code.
static IN_FILES: LazyLock<Vec<ProfileFile>> = LazyLock::new(|| {
    let read = |vendor: &FileVendor| {
        profile_file::parse(vendor.folder, vendor.profile, Some(vendor.sample))
    };
    // A test parses each file, so no profile is missing.
    vendors::IN_FILES
        .iter()
        .filter_map(|vendor| read(vendor).ok())
        .collect()
});

/// The lists in use.
static IN_USE: LazyLock<RwLock<&'static Lists>> = LazyLock::new(|| RwLock::new(Lists::with(&[])));

/// The profiles, and what they define.
pub(crate) struct Lists {
    profiles: Vec<&'static Profile>,
    /// The modes, in documentation order.
    pub(crate) modes: Vec<AuthMode>,
    event_types: HashSet<&'static str>,
}

impl Lists {
    /// Returns the lists with the profiles of users' files. Lists are never freed, like the profiles.
    fn with(added: &[ProfileFile]) -> &'static Self {
        let in_files = || IN_FILES.iter().chain(added);
        let in_code = vendors::ALL.iter().filter_map(|vendor| vendor.profile);
        let (clock, senders): (Vec<_>, Vec<_>) =
            in_code.partition(|profile| profile.id == SCHEDULE);
        let profiles: Vec<&'static Profile> = senders
            .into_iter()
            .chain(in_files().map(|file| file.profile))
            .chain(clock)
            .collect();
        let in_code = vendors::ALL.iter().flat_map(|vendor| vendor.modes).copied();
        let modes = in_code.chain(in_files().filter_map(|file| file.mode));
        let catalogs = profiles.iter().flat_map(|profile| profile.catalog());
        Box::leak(Box::new(Self {
            event_types: catalogs.map(|event| event.name).collect(),
            modes: modes.map(AuthMode::of).collect(),
            profiles,
        }))
    }
}

pub(crate) fn lists() -> &'static Lists {
    let in_use = IN_USE.read();
    *in_use.unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether the profile's ID, or the name of its auth mode, is already in use. Compares with the vendors'
/// profiles, the loaded profile files and `others`.
pub fn is_taken(file: ProfileFile, others: &[ProfileFile]) -> bool {
    let id = file.profile.id;
    let in_files = || IN_FILES.iter().chain(others);
    let mut in_code = vendors::ALL.iter().filter_map(|vendor| vendor.profile);
    let has_id = in_code.any(|profile| profile.id == id || profile.alias == Some(id))
        || in_files().any(|other| other.profile.id == id);
    let has_mode = file.mode.is_some_and(|mode| {
        let mut modes = in_files().filter_map(|other| other.mode);
        AuthMode::built_in(mode.name).is_some() || modes.any(|other| other.name == mode.name)
    });
    has_id || has_mode
}

/// Replaces the profiles of users' files. Omits profiles for which [`is_taken`] is true. References to previous
/// profiles stay valid.
pub fn set_added(files: &[ProfileFile]) {
    let mut added: Vec<ProfileFile> = Vec::with_capacity(files.len());
    for file in files {
        if !is_taken(*file, &added) {
            added.push(*file);
        }
    }
    *IN_USE.write().unwrap_or_else(PoisonError::into_inner) = Lists::with(&added);
}

/// Returns every profile, in display order.
pub fn all() -> &'static [&'static Profile] {
    &lists().profiles
}

/// Finds an event type that a profile documents.
pub fn find_event_type(name: &str) -> Option<&'static str> {
    lists().event_types.get(name).copied()
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
