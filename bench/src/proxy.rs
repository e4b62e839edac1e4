//! A TCP proxy in front of a database. It adds network latency and closes connections. It can stop forwarding, like
//! a firewall that has lost a connection's state.

use anyhow::Result;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Buffered chunks per direction of a connection.
const UNDER_WAY: usize = 1024;
/// Maximum chunk size in bytes.
const PIECE: usize = 64 * 1024;

/// A running proxy. It runs until the process ends.
pub struct Proxy {
    pub port: u16,
    faults: Arc<Faults>,
}

/// The faults of the proxy.
struct Faults {
    /// Connections opened so far.
    opened: AtomicU64,
    /// Connections with a number below this are silent.
    silent_below: AtomicU64,
    /// Connections with a number below this deliver nothing to the client.
    deaf_below: AtomicU64,
    /// Delay in each direction, in microseconds.
    delay_us: AtomicU64,
    /// The client's end of each connection.
    clients: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Forwards to a port on this machine, with this delay in each direction. Uses threads with a blocking sleep,
    /// because the timers of the async runtime have a resolution of one millisecond.
    pub fn start(to: u16, one_way: Duration) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let faults = Arc::new(Faults {
            opened: AtomicU64::default(),
            silent_below: AtomicU64::default(),
            deaf_below: AtomicU64::default(),
            delay_us: AtomicU64::default(),
            clients: Mutex::default(),
        });
        let proxy = Self {
            port: listener.local_addr()?.port(),
            faults: Arc::clone(&faults),
        };
        proxy.delay(one_way);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else {
                    continue;
                };
                let number = faults.opened.fetch_add(1, Ordering::SeqCst);
                if let Ok(client) = client.try_clone() {
                    faults.clients().push(client);
                }
                let (of_client, of_server) = (Arc::clone(&faults), Arc::clone(&faults));
                drop(join(&client, &server, &faults, move || {
                    of_client.is_silent(number)
                }));
                let is_lost = move || of_server.is_silent(number) || of_server.is_deaf(number);
                drop(join(&server, &client, &faults, is_lost));
            }
        });
        Ok(proxy)
    }

    /// Sets the delay in each direction.
    pub fn delay(&self, one_way: Duration) {
        let micros = u64::try_from(one_way.as_micros()).unwrap_or(u64::MAX);
        self.faults.delay_us.store(micros, Ordering::SeqCst);
    }

    /// Stops forwarding on all open connections without closing them. New connections work.
    pub fn fall_silent(&self) {
        let opened = self.faults.opened.load(Ordering::SeqCst);
        self.faults.silent_below.store(opened, Ordering::SeqCst);
    }

    /// Stops forwarding to the client on all open connections. Data from the client is still forwarded.
    pub fn lose_answers(&self) {
        let opened = self.faults.opened.load(Ordering::SeqCst);
        self.faults.deaf_below.store(opened, Ordering::SeqCst);
    }

    /// Closes all open connections.
    pub fn cut(&self) {
        for client in self.faults.clients().drain(..) {
            // The client may have already closed the connection.
            drop(client.shutdown(Shutdown::Both));
        }
    }
}

impl Faults {
    fn clients(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_silent(&self, number: u64) -> bool {
        number < self.silent_below.load(Ordering::SeqCst)
    }

    fn is_deaf(&self, number: u64) -> bool {
        number < self.deaf_below.load(Ordering::SeqCst)
    }

    fn delay(&self) -> Duration {
        Duration::from_micros(self.delay_us.load(Ordering::SeqCst))
    }
}

/// Forwards one direction of a connection.
fn join(
    from: &TcpStream,
    to: &TcpStream,
    faults: &Arc<Faults>,
    is_lost: impl Fn() -> bool + Send + 'static,
) -> Result<()> {
    to.set_nodelay(true)?;
    let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
    let (line, pieces): (SyncSender<(Instant, Vec<u8>)>, Receiver<_>) = sync_channel(UNDER_WAY);
    let faults = Arc::clone(faults);
    std::thread::spawn(move || {
        let mut piece = vec![0; PIECE];
        while let Ok(count @ 1..) = from.read(&mut piece) {
            let bytes = piece.get(..count).unwrap_or_default().to_vec();
            if line.send((Instant::now() + faults.delay(), bytes)).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        for (due, bytes) in pieces {
            if let Some(early) = due.checked_duration_since(Instant::now()) {
                std::thread::sleep(early);
            }
            if is_lost() {
                continue;
            }
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        if !is_lost() {
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

    #[test]
    fn it_loses_answers_and_cuts_connections() {
        let proxy = Proxy::start(echo(), Duration::ZERO).unwrap();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port)).unwrap();
        let mut answer = [0; 4];
        stream.write_all(b"ping").unwrap();
        stream.read_exact(&mut answer).unwrap();
        proxy.lose_answers();
        stream.write_all(b"pong").unwrap();
        stream
            .set_read_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        stream.read_exact(&mut answer).unwrap_err();
        stream.set_read_timeout(None).unwrap();
        proxy.cut();
        assert_eq!(stream.read(&mut answer).unwrap(), 0);
    }
}
