//! Reads the sender profiles that users describe in files: `profiles/*.toml` in the data directory, at the start and
//! whenever the files change. A file with a mistake does not affect other files. Its profile stays in its last valid
//! version, or is missing if there was none.

mod files;

use files::list;
pub use files::read_file;
use gatehouse_services::Services;
use gatehouse_services::profile_files::ProfileReport;
use gatehouse_sources::profile;
use gatehouse_sources::profile_file::{MAX_FILES, PROFILES_DIRECTORY, ProfileFile};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the folder is checked.
const POLL: Duration = Duration::from_secs(1);

/// Properties of a file that change when it is written or replaced, or when its permissions change: inode, size, and
/// time of the last change of the inode. `None` if the properties cannot be read.
type Stamp = Option<(u64, u64, (i64, i64))>;
type Found = Result<BTreeMap<PathBuf, Stamp>, ErrorKind>;

/// A file as it was last read.
#[derive(Debug)]
struct Loaded {
    stamp: Stamp,
    parsed: Result<ProfileFile, String>,
    /// The profile of this file that is in use, from its last version without a mistake.
    used: Option<ProfileFile>,
    problem: Option<String>,
}

impl Loaded {
    /// Returns the order in which files get their IDs: first files that keep their ID, then files that change it, then
    /// new files.
    fn rank(&self) -> u8 {
        let id = |file: &ProfileFile| file.profile().id;
        match (&self.used, &self.parsed) {
            (None, _) => 2,
            (Some(used), Ok(parsed)) if id(used) != id(parsed) => 1,
            (Some(_), _) => 0,
        }
    }
}

/// The folder and its files.
#[derive(Debug)]
pub struct ProfileFiles {
    folder: PathBuf,
    /// The folder at the last read, or `None` before the first read.
    found: Option<Found>,
    /// The folder at the last check, if it has changed since the last read.
    changing: Option<Found>,
    files: BTreeMap<PathBuf, Loaded>,
    /// The problem that prevents some or all files from being read.
    problem: Option<String>,
}

impl ProfileFiles {
    /// Reads the folder of a data directory. Blocks.
    pub fn open(data_dir: &Path) -> Self {
        let mut files = Self {
            folder: data_dir.join(PROFILES_DIRECTORY),
            found: None,
            changing: None,
            files: BTreeMap::new(),
            problem: None,
        };
        files.look();
        files
    }

    /// Reads files that changed since the last read, and applies their profiles. Returns whether profiles changed. A
    /// change is read only when a second check finds the same change, because the beginning of a file that is still
    /// being written could be a profile with a weaker verification. Blocks.
    fn look(&mut self) -> bool {
        // The list is taken before the files are read, so a change during the read is detected.
        let found = list(&self.folder).map_err(|error| error.kind());
        if self.found.as_ref() == Some(&found) {
            self.changing = None;
            return false;
        }
        if self.found.is_some() && self.changing.as_ref() != Some(&found) {
            self.changing = Some(found);
            return false;
        }
        self.changing = None;
        match &found {
            Ok(found) => self.read(found),
            Err(kind) => {
                self.problem = Some(format!("{PROFILES_DIRECTORY} cannot be read: {kind}"));
            }
        }
        self.found = Some(found);
        for problem in &self.report().problems {
            tracing::warn!(problem, "a profile file has a mistake");
        }
        true
    }

    fn read(&mut self, found: &BTreeMap<PathBuf, Stamp>) {
        self.files.retain(|path, _| found.contains_key(path));
        let is_over = found.len() > MAX_FILES;
        self.problem = is_over.then(|| {
            format!(
                "{PROFILES_DIRECTORY} has more than {MAX_FILES} files; the others are not in use"
            )
        });
        for (path, stamp) in found {
            let before = self.files.get(path);
            let is_same = before.is_some_and(|before| before.stamp == *stamp);
            // If the limit is reached, a new file does not displace a file that was read before.
            if is_same || (before.is_none() && self.files.len() >= MAX_FILES) {
                continue;
            }
            let loaded = Loaded {
                stamp: *stamp,
                parsed: read_file(path, &shown(path)),
                used: before.and_then(|before| before.used),
                problem: None,
            };
            self.files.insert(path.clone(), loaded);
        }
        self.settle();
    }

    /// Decides which profiles are in use. A file keeps its ID, which no other file can take. If several new files have
    /// the same ID, none is used, because it is unknown which of them describes the sender.
    fn settle(&mut self) {
        let new = self.files.values().filter(|file| file.used.is_none());
        let new = new.filter_map(|file| Some(file.parsed.as_ref().ok()?.profile().id));
        let new: Vec<&'static str> = new.collect();
        let mut accepted: Vec<ProfileFile> = Vec::with_capacity(self.files.len());
        let mut order: Vec<(&PathBuf, &mut Loaded)> = self.files.iter_mut().collect();
        order.sort_by_key(|(_, loaded)| loaded.rank());
        for (path, loaded) in order {
            let is_free = |file: &ProfileFile| !profile::is_taken(*file, &accepted);
            let (parsed, problem) = match &loaded.parsed {
                Err(problem) => (None, Some(problem.clone())),
                Ok(file) => {
                    let (name, id) = (shown(path), file.profile().id);
                    let is_one_of_several = loaded.used.is_none()
                        && new.iter().filter(|other| **other == id).count() > 1;
                    if is_one_of_several {
                        let problem = format!("{name}: several files have the profile `{id}`");
                        (None, Some(problem))
                    } else if is_free(file) {
                        (Some(*file), None)
                    } else {
                        (
                            None,
                            Some(format!("{name}: the profile `{id}` already exists")),
                        )
                    }
                }
            };
            loaded.problem = problem;
            loaded.used = parsed.or(loaded.used.filter(is_free));
            accepted.extend(loaded.used);
        }
        let used: Vec<ProfileFile> = self.files.values().filter_map(|it| it.used).collect();
        profile::set_added(&used);
    }

    pub fn report(&self) -> ProfileReport {
        let problems = self.files.values().filter_map(|it| it.problem.clone());
        ProfileReport {
            used: self.files.values().filter(|it| it.used.is_some()).count(),
            problems: self.problem.clone().into_iter().chain(problems).collect(),
        }
    }
}

fn shown(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{PROFILES_DIRECTORY}/{name}")
}

/// Applies changed files until shutdown.
pub fn watch(
    files: Arc<Mutex<ProfileFiles>>,
    services: &Arc<Services>,
    shutdown: &CancellationToken,
    tasks: &TaskTracker,
) {
    let services = Arc::clone(services);
    tasks.spawn(shutdown.clone().run_until_cancelled_owned(async move {
        let mut timer = tokio::time::interval(POLL);
        timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            timer.tick().await;
            let files = Arc::clone(&files);
            let looked = tokio::task::spawn_blocking(move || {
                let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
                files.look().then(|| files.report())
            });
            match looked.await {
                // An error means a panic. The folder is checked again at the next tick.
                Ok(None) | Err(_) => {}
                Ok(Some(report)) => {
                    tracing::info!(used = report.used, "the changed profile files were read");
                    services.profile_files.set(report);
                    services.webhooks.profiles_changed().await;
                }
            }
        }
    }));
}

#[cfg(test)]
mod tests;
