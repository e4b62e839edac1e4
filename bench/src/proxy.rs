//! A TCP proxy in front of a database. It adds network latency and can fall silent like a firewall that has
//! lost a connection's state.

use anyhow::Result;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Buffered chunks per direction of a connection.
const UNDER_WAY: usize = 1024;
/// Maximum chunk size in bytes.
const PIECE: usize = 64 * 1024;

/// A running proxy. It runs until the process ends.
pub struct Proxy {
    pub port: u16,
    /// Connections with a number below this are silent.
    silent_below: Arc<AtomicU64>,
    made: Arc<AtomicU64>,
}

impl Proxy {
    /// Forwards to a port on this machine with this delay in each direction. Uses threads with a blocking
    /// sleep, because the timers of the async runtime have a resolution of one millisecond.
    pub fn start(to: u16, one_way: Duration) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let proxy = Self {
            port: listener.local_addr()?.port(),
            silent_below: Arc::default(),
            made: Arc::default(),
        };
        let (silent_below, made) = (Arc::clone(&proxy.silent_below), Arc::clone(&proxy.made));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else {
                    continue;
                };
                let number = made.fetch_add(1, Ordering::SeqCst);
                let silent_below = Arc::clone(&silent_below);
                let is_silent = move || number < silent_below.load(Ordering::SeqCst);
                drop(join(&client, &server, one_way, is_silent.clone()));
                drop(join(&server, &client, one_way, is_silent));
            }
        });
        Ok(proxy)
    }

    /// Stops forwarding on all open connections without closing them. New connections work.
    pub fn fall_silent(&self) {
        let made = self.made.load(Ordering::SeqCst);
        self.silent_below.store(made, Ordering::SeqCst);
    }
}

/// Forwards one direction of a connection.
fn join(
    from: &TcpStream,
    to: &TcpStream,
    delay: Duration,
    is_silent: impl Fn() -> bool + Send + 'static,
) -> Result<()> {
    to.set_nodelay(true)?;
    let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
    let (line, pieces): (SyncSender<(Instant, Vec<u8>)>, Receiver<_>) = sync_channel(UNDER_WAY);
    std::thread::spawn(move || {
        let mut piece = vec![0; PIECE];
        while let Ok(count @ 1..) = from.read(&mut piece) {
            let bytes = piece.get(..count).unwrap_or_default().to_vec();
            if line.send((Instant::now() + delay, bytes)).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        for (due, bytes) in pieces {
            if let Some(early) = due.checked_duration_since(Instant::now()) {
                std::thread::sleep(early);
            }
            if is_silent() {
                continue;
            }
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        if !is_silent() {
            drop(to.shutdown(Shutdown::Both));
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                std::thread::spawn(move || {
                    let mut piece = [0; 16];
                    while let Ok(count @ 1..) = stream.read(&mut piece) {
                        stream.write_all(&piece[..count]).unwrap();
                    }
                });
            }
        });
        port
    }

    #[test]
    fn it_forwards_until_it_falls_silent_and_then_only_for_new_connections() {
        let proxy = Proxy::start(echo(), Duration::from_millis(1)).unwrap();
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port)).unwrap();
        let mut answer = [0; 4];
        let mut old = connect();
        old.write_all(b"ping").unwrap();
        old.read_exact(&mut answer).unwrap();
        proxy.fall_silent();
        old.write_all(b"lost").unwrap();
        old.set_nonblocking(true).unwrap();
        let mut new = connect();
        new.write_all(b"pong").unwrap();
        new.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"pong");
        let nothing = old.read(&mut answer).unwrap_err();
        assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
    }
}
