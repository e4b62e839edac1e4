//! Restarts servers on the other nodes of a shared database. A request is a row in the change feed. The row contains
//! the ID of the requesting process, which has already restarted its own server.

use super::handle::Mcp;
use super::status::McpState;
use gatehouse_store::StoreError;

/// The action of the other nodes for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elsewhere {
    /// Restart the server.
    Restart,
    /// Restart the server if it is not connected.
    Test,
}

impl Elsewhere {
    const ALL: [Self; 2] = [Self::Restart, Self::Test];

    /// Returns the prefix of the change's subject. The ID of the process and the name of the server follow.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Restart => "mcp_restart:",
            Self::Test => "mcp_test:",
        }
    }
}

impl Mcp {
    /// Sends a request to the other nodes. Nothing is written if the database has a single node.
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

    /// Applies a change of any node: restarts the named server. Ignores other subjects, and requests of this process.
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
