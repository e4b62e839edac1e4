//! Reads the profiles of senders that users describe in files: `profiles/*.toml` in the data directory, at the start
//! and whenever the files change. A file with a mistake does not affect the others: its profile stays as it was before
//! the mistake, or is missing if it was never read.

use gatehouse_services::Services;
use gatehouse_services::profile_files::ProfileReport;
use gatehouse_sources::profile;
use gatehouse_sources::profile_file::{
    MAX_FILE_BYTES, MAX_FILES, PROFILES_DIRECTORY, ProfileFile, parse,
};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the folder is checked.
const POLL: Duration = Duration::from_secs(2);

/// Properties of a file that change when it is written or replaced. `None` if they cannot be read.
type Stamp = Option<(u64, u64, (i64, i64))>;
type Found = Result<BTreeMap<PathBuf, Stamp>, ErrorKind>;

/// A file as it was last read.
#[derive(Debug)]
struct Loaded {
    stamp: Stamp,
    parsed: Result<ProfileFile, String>,
    /// The profile of this file that is in use: of its last version without a mistake.
    used: Option<ProfileFile>,
    problem: Option<String>,
}

/// The folder and its files.
#[derive(Debug)]
pub struct ProfileFiles {
    folder: PathBuf,
    /// The folder when it was last read; `None` before the first time.
    found: Option<Found>,
    files: BTreeMap<PathBuf, Loaded>,
    /// What prevents all or several files from being read.
    problem: Option<String>,
}

impl ProfileFiles {
    /// Reads the folder of a data directory. Blocks.
    pub fn open(data_dir: &Path) -> Self {
        let mut files = Self {
            folder: data_dir.join(PROFILES_DIRECTORY),
            found: None,
            files: BTreeMap::new(),
            problem: None,
        };
        files.look();
        files
    }

    /// Reads the files that changed since the last time, and puts their profiles to use. Returns whether anything
    /// changed. Blocks.
    fn look(&mut self) -> bool {
        // Taken before the files are read, so that a change while they are read is noticed.
        let found = list(&self.folder).map_err(|error| error.kind());
        if self.found.as_ref() == Some(&found) {
            return false;
        }
        match &found {
            Ok(found) => self.read(found),
            Err(kind) => {
                self.problem = Some(format!("{PROFILES_DIRECTORY} cannot be read: {kind}"));
            }
        }
        self.found = Some(found);
        for problem in &self.report().problems {
            tracing::warn!(problem, "a profile file is not in use");
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
            // A new file does not displace one that was read.
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

    /// Decides which profiles are in use. A file that was in use keeps its ID against one that was not.
    fn settle(&mut self) {
        let mut accepted: Vec<ProfileFile> = Vec::with_capacity(self.files.len());
        let mut order: Vec<(&PathBuf, &mut Loaded)> = self.files.iter_mut().collect();
        order.sort_by_key(|(_, loaded)| loaded.used.is_none());
        for (path, loaded) in order {
            let is_free = |file: &ProfileFile| !profile::is_taken(*file, &accepted);
            let new = loaded.parsed.as_ref().ok().copied();
            loaded.problem = match &loaded.parsed {
                Err(problem) => Some(problem.clone()),
                Ok(file) if is_free(file) => None,
                Ok(file) => {
                    let id = file.profile().id;
                    Some(format!(
                        "{}: the profile `{id}` already exists",
                        shown(path)
                    ))
                }
            };
            loaded.used = new.filter(is_free).or(loaded.used.filter(is_free));
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

/// The profiles' files of a folder. A folder that does not exist has none.
fn list(folder: &Path) -> std::io::Result<BTreeMap<PathBuf, Stamp>> {
    let listed = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        listed => listed?,
    };
    let mut found = BTreeMap::new();
    for entry in listed {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "toml") {
            let facts = std::fs::metadata(&path).ok();
            let stamp = facts.map(|it| (it.ino(), it.size(), (it.mtime(), it.mtime_nsec())));
            found.insert(path, stamp);
        }
    }
    Ok(found)
}

/// Reads a profile. `name` is the file's name in messages. Blocks.
///
/// # Errors
/// A fragment with the file, the line and the mistake.
#[expect(
    clippy::disallowed_methods,
    reason = "called at the start, by commands and by spawn_blocking"
)]
pub fn read_file(path: &Path, name: &str) -> Result<ProfileFile, String> {
    let unreadable = |error: std::io::Error| format!("{name} cannot be read: {}", error.kind());
    let facts = std::fs::metadata(path).map_err(unreadable)?;
    // Reading a pipe would not return.
    if !facts.is_file() {
        return Err(format!("{name} is not a file"));
    }
    if usize::try_from(facts.len()).map_or(true, |bytes| bytes > MAX_FILE_BYTES) {
        return Err(format!("{name}:1: larger than {MAX_FILE_BYTES} bytes"));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(name, &text, None).map_err(|error| error.to_string())
}

fn shown(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{PROFILES_DIRECTORY}/{name}")
}

/// Puts changed files to use until shutdown.
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
                Ok(None) => {}
                Ok(Some(report)) => {
                    tracing::info!(used = report.used, "the changed profile files were read");
                    services.profile_files.set(report);
                    services.webhooks.profiles_changed().await;
                }
                Err(_) => return,
            }
        }
    }));
}

#[cfg(test)]
mod tests;
