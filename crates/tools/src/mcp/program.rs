//! A server's program: its pipes and its termination.
//!
//! The program leads its own process group. It is stopped as the MCP specification requires: its input is closed, then
//! it receives SIGTERM. All remaining processes of the group are then killed before the program is reaped. Until then,
//! the group ID cannot be reused.

use super::oversized::Limited;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::sleep;

/// The largest message that is accepted from a program. A larger answer becomes an error of its
/// call.
const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// The time that the program has to exit after each of these steps.
const GRACE: Duration = Duration::from_secs(2);
/// The polling interval during that time.
const LOOK: Duration = Duration::from_millis(20);

/// A running program. Dropping it kills its process group.
pub(super) struct Program {
    transport: AsyncRwTransport<RoleClient, Limited<ChildStdout>, ChildStdin>,
    child: Child,
    /// The process group that the program leads. `None` after termination.
    group: Option<Pid>,
}

impl Program {
    /// Starts the program. Also returns its standard error.
    pub(super) fn start(mut command: Command) -> io::Result<(Self, Option<ChildStderr>)> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let stderr = child.stderr.take();
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let stdout = Limited::new(stdout, MAX_MESSAGE_BYTES);
        let transport = AsyncRwTransport::new(stdout, stdin);
        let program = Self {
            transport: transport.with_max_line_length(MAX_MESSAGE_BYTES),
            child,
            group,
        };
        Ok((program, stderr))
    }

    /// Waits up to [`GRACE`] for the program to exit, without reaping it.
    async fn ends(group: Pid) -> bool {
        let looks = GRACE.as_millis() / LOOK.as_millis();
        for _ in 0..looks {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            match waitid(WaitId::Pid(group), options) {
                Ok(None) => sleep(LOOK).await,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
        false
    }

    async fn end(&mut self) -> io::Result<()> {
        let closed = self.transport.close().await;
        if let Some(group) = self.group {
            if !Self::ends(group).await {
                signal(group, Signal::TERM);
                Self::ends(group).await;
            }
            signal(group, Signal::KILL);
            self.group = None;
            self.child.wait().await?;
        }
        closed
    }
}

fn signal(group: Pid, signal: Signal) {
    // The group may already be empty.
    let _ = kill_process_group(group, signal);
}

impl Transport<RoleClient> for Program {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.transport.receive().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.end().await
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(group) = self.group.take() {
            signal(group, Signal::KILL);
        }
    }
}
