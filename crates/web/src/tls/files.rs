//! Certificate files, which are reloaded when they change.

use super::of_der;
use gatehouse_services::certificates::{CertificateFacts, record_expiry};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the files are checked.
const POLL: Duration = Duration::from_secs(2);

/// The files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("cannot read the {what} file {}", path.display())]
    Read {
        /// `certificate` or `key`.
        what: &'static str,
        path: PathBuf,
        #[source]
        source: pem::Error,
    },
    /// The file is not PEM, or contains another kind of PEM data.
    #[error("the file {} contains no {what}", path.display())]
    Nothing {
        /// `certificate` or `private key`.
        what: &'static str,
        path: PathBuf,
    },
    #[error("the certificate and the key do not match")]
    Mismatch,
    #[error("the certificate cannot be used")]
    Unusable(#[source] rustls::Error),
}

impl LoadError {
    /// Returns a text for `doctor`, without paths.
    fn summary(&self) -> String {
        match self {
            Self::Read { what, .. } => format!("the {what} file cannot be read"),
            Self::Nothing { what, .. } => format!("a file contains no {what}"),
            Self::Mismatch => self.to_string(),
            Self::Unusable(error) => error.to_string(),
        }
    }
}

/// Properties of a file that change when it is written or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

/// PEM files, and when they were last read.
#[derive(Clone, Debug)]
pub struct CertificateFiles {
    cert: PathBuf,
    key: PathBuf,
    seen: [Option<Stamp>; 2],
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    Some(Stamp {
        inode: found.ino(),
        size: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
    })
}

fn load(cert: &Path, key: &Path) -> Result<CertifiedKey, LoadError> {
    let read = |what, path: &Path| {
        let path = path.to_owned();
        move |source| LoadError::Read { what, path, source }
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect)
        .map_err(read("certificate", cert))?;
    let nothing = |what, path: &Path| LoadError::Nothing {
        what,
        path: path.to_owned(),
    };
    if chain.is_empty() {
        return Err(nothing("certificate", cert));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
        pem::Error::NoItemsFound => nothing("private key", key),
        error => read("key", key)(error),
    })?;
    let found = of_der(chain, private).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => LoadError::Mismatch,
        error => LoadError::Unusable(error),
    })?;
    #[expect(
        clippy::disallowed_methods,
        reason = "called at startup and by spawn_blocking"
    )]
    let text = std::fs::read_to_string(cert).unwrap_or_default();
    if let Ok(facts) = CertificateFacts::from_pem(&text) {
        record_expiry(&facts);
    }
    Ok(found)
}

impl CertificateFiles {
    /// Reads the files. Blocks.
    pub(super) fn open(cert: &Path, key: &Path) -> Result<(Self, CertifiedKey), LoadError> {
        // The stamp is taken before the files are read, so a change during the read is detected.
        let seen = [stamp(cert), stamp(key)];
        let found = load(cert, key)?;
        let files = Self {
            cert: cert.to_owned(),
            key: key.to_owned(),
            seen,
        };
        Ok((files, found))
    }

    /// Reloads the files if they have changed. Blocks.
    fn reload(&mut self) -> Option<Result<CertifiedKey, LoadError>> {
        let now = [stamp(&self.cert), stamp(&self.key)];
        if now == self.seen {
            return None;
        }
        self.seen = now;
        Some(load(&self.cert, &self.key))
    }

    /// Reports each change of the files. The two files are usually not replaced at the same moment. Until both are
    /// replaced, the key does not match, and the preceding certificate stays in use.
    pub(super) async fn watch(self, mut report: impl FnMut(Result<CertifiedKey, String>)) {
        let mut files = self;
        let mut timer = tokio::time::interval(POLL);
        timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            timer.tick().await;
            let looked = tokio::task::spawn_blocking(move || {
                let outcome = files.reload();
                (files, outcome)
            });
            let Ok((back, outcome)) = looked.await else {
                return;
            };
            files = back;
            match outcome {
                None => {}
                Some(Ok(found)) => {
                    tracing::info!("the changed certificate files are in use");
                    report(Ok(found));
                }
                Some(Err(error)) => {
                    let error = error.summary();
                    tracing::warn!(
                        error,
                        "the changed certificate files cannot be used; the previous certificate stays in use"
                    );
                    report(Err(error));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pair {
        cert: String,
        key: String,
    }

    fn made() -> Pair {
        let made = rcgen::generate_simple_self_signed(["a.example".to_owned()]).unwrap();
        Pair {
            cert: made.cert.pem(),
            key: made.signing_key.serialize_pem(),
        }
    }

    /// Replaces a file as certificate tools do.
    fn put(path: &Path, text: &str) {
        let new = path.with_extension("new");
        let mut file = std::fs::File::create(&new).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        std::fs::rename(&new, path).unwrap();
    }

    #[test]
    fn changed_files_are_used_when_both_are_there() {
        let directory = std::env::temp_dir().join(format!("gatehouse-tls-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (cert, key) = (directory.join("cert.pem"), directory.join("key.pem"));
        let (first, second) = (made(), made());
        put(&cert, &first.cert);
        put(&key, &first.key);
        let (mut files, found) = CertificateFiles::open(&cert, &key).unwrap();
        assert!(files.reload().is_none());
        put(&cert, &second.cert);
        assert!(matches!(files.reload(), Some(Err(LoadError::Mismatch))));
        assert!(files.reload().is_none(), "tried once per change");
        put(&key, &second.key);
        let renewed = files.reload().unwrap().unwrap();
        assert_ne!(renewed.cert, found.cert);
        std::fs::remove_file(&cert).unwrap();
        assert!(matches!(files.reload(), Some(Err(LoadError::Read { .. }))));
        put(&cert, &second.cert);
        assert!(matches!(files.reload(), Some(Ok(_))));
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
