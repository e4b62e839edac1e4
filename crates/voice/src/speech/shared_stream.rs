//! Shared streams of speech: identical requests read the first request's stream, so the provider is paid once.

mod listener;

use super::observed::Body;
use crate::VoiceError;
use crate::cache::Name;
use bytes::Bytes;
use futures_util::future::{BoxFuture, Shared};
use futures_util::{FutureExt, StreamExt};
use listener::Listener;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The maximum size of audio that is kept whole, so that later requests can join, in bytes.
const JOINABLE_BYTES: usize = 768 << 10;
/// The maximum size of audio that is held for slow listeners, in bytes: about 17 minutes of MP3.
const BEHIND_BYTES: usize = 16 << 20;

/// A stream and whether it comes from the cache.
pub(super) type Begun = (Body, bool);
/// A part of the audio. Every listener receives it.
type Piece = Result<Bytes, Arc<VoiceError>>;
type Beginning = Shared<BoxFuture<'static, Result<bool, Arc<VoiceError>>>>;
type Next = Shared<BoxFuture<'static, Option<Piece>>>;
type Source = Arc<tokio::sync::Mutex<Option<Body>>>;

/// The streams that have listeners, by the name of their cache entry.
#[derive(Default)]
pub(crate) struct SharedStreams(Mutex<HashMap<Name, Weak<SharedStream>>>);

impl SharedStreams {
    /// Joins the running stream of this name from its first byte, or starts one with `begin`. The flag is true if the
    /// stream was already running.
    pub(super) fn join<F>(&self, name: Name, begin: F) -> (Listener, bool)
    where
        F: Future<Output = Result<Begun, VoiceError>> + Send + 'static,
    {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|_, stream| stream.strong_count() > 0);
        let joined = running.get(&name).and_then(Weak::upgrade);
        if let Some(listener) = joined.and_then(Listener::of) {
            return (listener, true);
        }
        let stream = Arc::new(SharedStream::new(begin));
        running.insert(name, Arc::downgrade(&stream));
        (Listener::first(stream), false)
    }

    /// Joins the running stream of this name from its first byte. Returns `None` if there is no
    /// such stream.
    pub(super) fn find(&self, name: &Name) -> Option<Listener> {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = running.get(name).and_then(Weak::upgrade);
        stream.and_then(Listener::of)
    }
}

/// A stream with several listeners. It advances when a listener reads, and is dropped with its last listener.
struct SharedStream {
    beginning: Beginning,
    source: Source,
    log: Mutex<Log>,
}

/// The pieces that the stream has yielded and a listener may still need.
struct Log {
    pieces: VecDeque<Piece>,
    /// The number of pieces dropped before `pieces`.
    dropped: usize,
    /// The size of `pieces`.
    held_bytes: usize,
    /// The size of everything that the stream has yielded.
    total_bytes: usize,
    /// The piece after `pieces`; `None` at the end of the stream.
    next: Option<Next>,
    /// The number of pieces that each listener has read.
    positions: HashMap<u64, usize>,
    last_listener: u64,
}

impl SharedStream {
    fn new<F>(begin: F) -> Self
    where
        F: Future<Output = Result<Begun, VoiceError>> + Send + 'static,
    {
        let source = Source::default();
        let slot = Arc::clone(&source);
        let beginning = async move {
            let (body, is_cached) = begin.await.map_err(Arc::new)?;
            *slot.lock().await = Some(body);
            Ok(is_cached)
        };
        let log = Log {
            pieces: VecDeque::new(),
            dropped: 0,
            held_bytes: 0,
            total_bytes: 0,
            next: Some(next(&source)),
            positions: HashMap::new(),
            last_listener: 0,
        };
        Self {
            beginning: beginning.boxed().shared(),
            source,
            log: Mutex::new(log),
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_failed(&self) -> bool {
        matches!(self.beginning.peek(), Some(Err(_)))
    }
}

/// Returns the next piece of the stream.
fn next(source: &Source) -> Next {
    let source = Arc::clone(source);
    let piece = async move {
        let mut body = source.lock().await;
        let piece = body.as_mut()?.next().await?;
        Some(piece.map_err(Arc::new))
    };
    piece.boxed().shared()
}

impl Log {
    /// Returns whether a new listener would receive every piece.
    const fn is_open(&self) -> bool {
        self.next.is_some() && self.total_bytes <= JOINABLE_BYTES
    }

    fn end(&self) -> usize {
        self.dropped + self.pieces.len()
    }

    fn enter(&mut self) -> u64 {
        self.last_listener += 1;
        self.positions.insert(self.last_listener, 0);
        self.last_listener
    }

    /// Stores the piece with this number, unless another listener has already stored it.
    fn add(&mut self, number: usize, piece: Option<Piece>, source: &Source) {
        if number != self.end() || self.next.is_none() {
            return;
        }
        let goes_on = matches!(piece, Some(Ok(_)));
        self.next = goes_on.then(|| next(source));
        if let Some(piece) = piece {
            let size = size(&piece);
            self.total_bytes += size;
            self.held_bytes += size;
            self.pieces.push_back(piece);
        }
        self.trim();
    }

    /// Returns the next piece for this listener. Returns `None` if the piece has not arrived.
    fn read(&mut self, listener: u64) -> Option<Result<Bytes, VoiceError>> {
        let position = self.positions.get_mut(&listener)?;
        let Some(at) = position.checked_sub(self.dropped) else {
            return Some(Err(VoiceError::TooSlow));
        };
        let piece = self.pieces.get(at)?.clone();
        *position += 1;
        self.trim();
        Some(piece.map_err(own))
    }

    /// Drops the pieces that every listener has read, and pieces beyond the limit that a slow listener has not read.
    fn trim(&mut self) {
        if self.is_open() {
            return;
        }
        let slowest = self.positions.values().copied().min().unwrap_or(usize::MAX);
        while self.dropped < slowest || (self.held_bytes > BEHIND_BYTES && self.pieces.len() > 1) {
            let Some(piece) = self.pieces.pop_front() else {
                return;
            };
            self.held_bytes = self.held_bytes.saturating_sub(size(&piece));
            self.dropped += 1;
        }
    }
}

fn size(piece: &Piece) -> usize {
    piece.as_ref().map_or(0, Bytes::len)
}

/// Only the last listener gets the original error.
fn own(error: Arc<VoiceError>) -> VoiceError {
    Arc::try_unwrap(error).unwrap_or_else(|error| error.copied())
}

#[cfg(test)]
mod tests;
