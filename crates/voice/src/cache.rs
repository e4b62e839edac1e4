//! A cache of synthesized speech. Each file is named by a hash of everything that affects the audio. Files are
//! encrypted while the vault is open, and not used while it is sealed. Lost files are synthesized again.

mod files;
mod index;

use crate::off_thread::off_thread;
use bytes::Bytes;
use files::Files;
use gatehouse_audio::Format;
use gatehouse_domain::Random;
use gatehouse_secrets::{Secrets, Status};
use index::Index;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Cached speech.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    pub(crate) audio: Bytes,
    pub(crate) duration_ms: u64,
}

/// The header before the audio in a file.
#[derive(Serialize, Deserialize)]
struct Head {
    duration_ms: u64,
}

/// The name of an entry: a hash of everything that affects the audio.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name(String);

impl Name {
    /// `parts` must be in a fixed order. Their lengths are hashed too, so that different lists cannot
    /// collide.
    pub(crate) fn of(format: Format, parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        hash.update(format.as_str());
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(data_encoding::HEXLOWER.encode(&hash.finalize()))
    }
}

/// The cache of synthesized speech.
pub(crate) struct Cache {
    secrets: Secrets,
    random: Arc<dyn Random>,
    files: Files,
    /// The index of the cache files. It is read from the directory at first use, and again after the vault's state
    /// changes.
    known: Mutex<Option<Known>>,
}

/// The index of the files with one extension.
struct Known {
    ending: &'static str,
    index: Index,
}

impl Cache {
    pub(crate) fn new(secrets: Secrets, random: Arc<dyn Random>, directory: PathBuf) -> Self {
        Self {
            secrets,
            random,
            files: Files::new(directory),
            known: Mutex::new(None),
        }
    }

    /// Returns the entry with this name. Deletes an unreadable entry.
    pub(crate) async fn find(self: &Arc<Self>, name: &Name, most: u64) -> Option<Spoken> {
        if most == 0 {
            return None;
        }
        let (cache, name) = (Arc::clone(self), name.clone());
        let found = off_thread(move || Ok(cache.read(&name))).await;
        let found = found.ok().flatten();
        let result = if found.is_some() { "hit" } else { "miss" };
        metrics::counter!("voice_cache_total", "result" => result).increment(1);
        found
    }

    /// Stores speech, and deletes the least recently used entries beyond `most` bytes in total. A failure is
    /// logged and does not affect the caller.
    pub(crate) async fn keep(self: &Arc<Self>, name: &Name, spoken: Spoken, most: u64) {
        let size = u64::try_from(spoken.audio.len()).unwrap_or(u64::MAX);
        // A single text must not evict more than a quarter of the cache.
        if size > most / 4 {
            return;
        }
        let (cache, name) = (Arc::clone(self), name.clone());
        let kept = off_thread(move || Ok(cache.write(&name, &spoken, most)?)).await;
        if let Err(error) = kept {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "speech could not be cached");
        }
    }

    fn read(&self, name: &Name) -> Option<Spoken> {
        let ending = self.ending()?;
        let is_there = self.with_index(ending, |index| index.touch(&name.0));
        if !is_there {
            return None;
        }
        let kept = self.files.read(&name.0, ending);
        let opened = kept.and_then(|kept| self.secrets.kept_bytes(&name.0, kept));
        let spoken = opened.and_then(|bytes| parse(&bytes));
        if spoken.is_none() {
            self.with_index(ending, |index| index.remove(&name.0));
            self.files.remove(&name.0, ending);
        }
        spoken
    }

    fn write(&self, name: &Name, spoken: &Spoken, most: u64) -> std::io::Result<()> {
        let head = Head {
            duration_ms: spoken.duration_ms,
        };
        let mut bytes = serde_json::to_vec(&head)?;
        bytes.push(b'\n');
        bytes.extend_from_slice(&spoken.audio);
        let (Some(ending), Some(kept)) = (self.ending(), self.secrets.keep_bytes(&name.0, &bytes))
        else {
            return Ok(());
        };
        let size = self.files.write(&name.0, &kept, &*self.random)?;
        let removed = self.with_index(ending, |index| index.add(&name.0, size, most));
        for name in removed {
            self.files.remove(&name, ending);
        }
        Ok(())
    }

    /// Returns the current file extension, or `None` while the vault is sealed.
    fn ending(&self) -> Option<&'static str> {
        match self.secrets.status() {
            Status::Sealed => None,
            Status::Unsealed => Some(files::ENCRYPTED),
            Status::Uninitialized | Status::Disabled => Some(files::PLAIN),
        }
    }

    fn with_index<T>(&self, ending: &'static str, work: impl FnOnce(&mut Index) -> T) -> T {
        let mut guard = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = guard.take().filter(|known| known.ending == ending);
        let known = guard.insert(known.unwrap_or_else(|| Known {
            ending,
            index: Index::of(self.files.list(ending)),
        }));
        work(&mut known.index)
    }
}

fn parse(bytes: &[u8]) -> Option<Spoken> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(bytes.get(..end)?).ok()?;
    Some(Spoken {
        audio: Bytes::copy_from_slice(bytes.get(end + 1..)?),
        duration_ms: head.duration_ms,
    })
}
