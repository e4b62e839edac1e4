//! A program that is kept and serves HTTP on this machine: its address, and its end with this server.
//!
//! The address has a random path, so that web pages and programs that cannot list processes do not find it. The
//! arguments of a process are not secret from other users. Nothing is sent to a port of another user.

use gatehouse_domain::Random;
use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use tokio::net::TcpListener;
use url::Url;

/// The shell that starts the guard. Without it, programs run without the guard.
const SHELL: &str = "/bin/sh";
/// A shell script that runs its arguments as a program. The program gets no input. The script kills the program when
/// the script's own input ends, which happens when this server ends, even if the server is killed.
const GUARD: &str = r#"exec 3<&0
"$@" 3<&- </dev/null &
program=$!
{ cat <&3; kill -9 "$program"; } >/dev/null 2>&1 &
exec 3<&-
wait "$program""#;

/// The address of a program's server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    port: u16,
    /// The first segment of all paths.
    secret: String,
}

impl Server {
    /// Chooses a free port. Another program may take the port before this one does.
    pub(super) async fn new(random: &dyn Random) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Ok(Self {
            port: listener.local_addr()?.port(),
            secret: data_encoding::HEXLOWER.encode(&random.bytes::<16>()),
        })
    }

    /// Returns the options of whisper-server.
    pub(super) fn arguments(&self) -> [OsString; 6] {
        [
            "--host".into(),
            Ipv4Addr::LOCALHOST.to_string().into(),
            "--port".into(),
            self.port.to_string().into(),
            "--request-path".into(),
            format!("/{}", self.secret).into(),
        ]
    }

    /// Returns the URL of a path, which begins with a slash.
    pub(crate) fn url(&self, path: &str) -> Option<Url> {
        let Self { port, secret } = self;
        let url = format!("http://{}:{port}/{secret}{path}", Ipv4Addr::LOCALHOST);
        Url::parse(&url).ok()
    }

    /// Returns whether a process of this user listens at the address, and no process of another
    /// user.
    #[cfg(target_os = "linux")]
    pub(crate) async fn is_ours(&self) -> bool {
        let table = tokio::fs::read_to_string("/proc/net/tcp").await;
        let user = rustix::process::geteuid().as_raw();
        table.is_ok_and(|table| is_listener_of(&table, self.port, user))
    }

    /// Returns false, because the check is unsupported on this system.
    #[cfg(not(target_os = "linux"))]
    pub(crate) async fn is_ours(&self) -> bool {
        true
    }
}

/// Returns whether the table of sockets (`proc_net_tcp` in the kernel's documentation) has listeners at this port of
/// the loopback address and all of them belong to this user.
#[cfg(target_os = "linux")]
fn is_listener_of(table: &str, port: u16, user: u32) -> bool {
    let address = u32::from_ne_bytes(Ipv4Addr::LOCALHOST.octets());
    let address = format!("{address:08X}:{port:04X}");
    let listeners = table.lines().filter_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let is_there = columns.next() == Some(&address) && columns.nth(1) == Some("0A");
        let owner = columns.nth(3);
        is_there.then_some(owner?.parse::<u32>() == Ok(user))
    });
    let owners: Vec<bool> = listeners.collect();
    !owners.is_empty() && owners.into_iter().all(|is_this_user| is_this_user)
}

/// Returns the command with the guard. Without a shell, there is no guard, and the program can
/// outlive a server that is killed.
pub(super) fn guarded(program: PathBuf, args: Vec<OsString>) -> (PathBuf, Vec<OsString>) {
    if !Path::new(SHELL).exists() {
        return (program, args);
    }
    let mut all: Vec<OsString> = vec!["-c".into(), GUARD.into(), SHELL.into(), program.into()];
    all.extend(args);
    (SHELL.into(), all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::SystemRandom;

    #[tokio::test]
    async fn each_server_has_an_address_of_its_own_on_this_machine() {
        let random = SystemRandom;
        let server = Server::new(&random).await.unwrap();
        let url = server.url("/inference").unwrap();
        assert_eq!(url.host_str(), Some("127.0.0.1"));
        let path = format!("/{}/inference", server.secret);
        assert_eq!((url.path(), server.secret.len()), (path.as_str(), 32));
        let [.., option, path] = server.arguments();
        assert_eq!(option, "--request-path");
        assert_eq!(path, OsString::from(format!("/{}", server.secret)));
        assert_ne!(server.secret, Server::new(&random).await.unwrap().secret);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_port_without_a_listener_is_not_ours_and_one_of_this_process_is() {
        let server = Server::new(&SystemRandom).await.unwrap();
        assert!(!server.is_ours().await);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, server.port)).await;
        assert!(server.is_ours().await);
        drop(listener);
    }

    #[cfg(all(target_os = "linux", target_endian = "little"))]
    #[test]
    fn a_port_of_another_user_or_for_all_interfaces_is_not_ours() {
        let line = |address: &str, state: &str, user: u32| {
            format!(
                "   0: {address}:1F90 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  {user}        0 1 1 0 100 0 0 10 0\n"
            )
        };
        let loopback = |state, user| line("0100007F", state, user);
        let is_ours = |table: &str| is_listener_of(table, 8080, 1000);
        assert!(is_ours(&loopback("0A", 1000)));
        assert!(is_ours(&(loopback("0A", 1000) + &loopback("01", 1001))));
        assert!(!is_ours(&loopback("0A", 1001)));
        assert!(!is_ours(&(loopback("0A", 1000) + &loopback("0A", 1001))));
        assert!(!is_ours(&loopback("01", 1000)));
        assert!(!is_ours(&line("00000000", "0A", 1000)));
        assert!(!is_ours(""));
        assert!(!is_listener_of(&loopback("0A", 1000), 8081, 1000));
    }
}
