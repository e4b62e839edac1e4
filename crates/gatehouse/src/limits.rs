//! Process limits and protections.

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};

/// Prevents other programs of the same user from reading this process's memory and initial environment. Prevents the
/// system from writing them to a core file. Root can still read both.
pub fn keep_memory_private() {
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "other programs of this user may read the memory of this process");
    }
}

/// Disables core files for this process and the programs that it starts.
pub fn forbid_core_files() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    if let Err(error) = setrlimit(Resource::Core, none) {
        tracing::warn!(%error, "a crash may write a core file");
    }
}

/// Raises the limit of open files to the hard limit. Each connection needs an open file, and the usual soft limit of
/// 1,024 is too low.
pub fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(error) = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    ) {
        tracing::warn!(%error, "the limit of open files could not be raised");
    }
}

/// Returns the current limit of open files.
pub fn open_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
