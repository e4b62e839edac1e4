//! Starts servers again on the other nodes of a shared database. A request is a row in the change feed. It names the
//! process that made it, which has started its own server already.

use super::handle::Mcp;
use super::status::McpState;
use gatehouse_store::StoreError;

/// What the other nodes do with their process or connection of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elsewhere {
    /// They start it again.
    Restart,
    /// They start it again if it is not connected.
    Test,
}

impl Elsewhere {
    const ALL: [Self; 2] = [Self::Restart, Self::Test];

    /// The beginning of the subject of the change. The ID of the process and the name of the server follow.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Restart => "mcp_restart:",
            Self::Test => "mcp_test:",
        }
    }
}

impl Mcp {
    /// Requests something of the other nodes. Nothing is written on a database of a single node.
    pub(super) async fn request_elsewhere(
        &self,
        request: Elsewhere,
        name: &str,
    ) -> Result<(), StoreError> {
        let parts = &self.dependencies.parts;
        if !parts.store.engine().is_shared() {
            return Ok(());
        }
        let subject = format!("{}{}:{name}", request.prefix(), self.process);
        let now = parts.clock.now();
        let write = parts
            .store
            .write(move |conn| Box::pin(async move { conn.insert_change(&subject, now).await }));
        write.await
    }

    /// Applies a change of any node: starts the server again that it names. Ignores other subjects, and requests of
    /// this process.
    pub fn apply_change(&self, subject: &str) {
        let mut requests = Elsewhere::ALL.into_iter();
        let found = requests.find_map(|it| Some((it, subject.strip_prefix(it.prefix())?)));
        let Some((request, of)) = found else {
            return;
        };
        let Some((process, name)) = of.split_once(':') else {
            return;
        };
        let Ok(status) = self.find(name) else {
            return;
        };
        let is_connected = status.state == McpState::Connected;
        if process != &*self.process && (request == Elsewhere::Restart || !is_connected) {
            self.start_again(name);
        }
    }
}
