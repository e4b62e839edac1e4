//! A server's program: its two pipes, and its end.
//!
//! The program leads a process group of its own. It is asked to end, as the specification of MCP wants it
//! (its input is closed, then it gets SIGTERM), and in any case everything left in the group is killed
//! before the program is reaped: until then nobody else can get the group's number.

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

/// The largest message that is taken from a program; a longer one is left out.
const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// How long the program may take to end, each time it is asked.
const GRACE: Duration = Duration::from_secs(2);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// A running program. Dropping it kills its group.
pub(super) struct Program {
    transport: AsyncRwTransport<RoleClient, ChildStdout, ChildStdin>,
    child: Child,
    /// The group that it leads, until it was ended.
    group: Option<Pid>,
}

impl Program {
    /// Starts it. The second is its standard error.
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
        let transport = AsyncRwTransport::new(stdout, stdin);
        let program = Self {
            transport: transport.with_max_line_length(MAX_MESSAGE_BYTES),
            child,
            group,
        };
        Ok((program, stderr))
    }

    /// Whether it ends by itself within a while. It is not reaped.
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
    // That there is nobody left is fine.
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
