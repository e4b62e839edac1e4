//! Writes the addresses of a started server to the log and the terminal.

use crate::compose::App;
use std::io::Write;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

impl App {
    pub(super) fn announce(
        &self,
        listener: &TcpListener,
        shutdown: &CancellationToken,
        tasks: &TaskTracker,
    ) {
        let scheme = if self.0.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let address = match listener.local_addr() {
            Ok(address) => {
                say(&format!("Listening on {scheme}://{address}"));
                Some(address)
            }
            Err(error) => {
                tracing::warn!(%error, "cannot determine the listening address");
                None
            }
        };
        let services = self.services();
        tracing::info!(
            version = services.build.version,
            engine = services.store.engine().name(),
            vault_status = ?services.secrets.status(),
            "started"
        );
        let mut code = services.auth.setup_code();
        let mut said = code.borrow_and_update().clone();
        if let Some(code) = &said {
            say_code(code);
        }
        // Browsers bind passkeys to a host name. They do not work with an IP address.
        if let Some(address) = address.filter(|address| address.ip().is_loopback()) {
            let port = address.port();
            say(&format!("Open {scheme}://localhost:{port} in a browser"));
        }
        tasks.spawn(shutdown.clone().run_until_cancelled_owned(async move {
            while code.changed().await.is_ok() {
                let now = code.borrow_and_update().clone();
                if now != said
                    && let Some(code) = &now
                {
                    say_code(code);
                }
                said = now;
            }
        }));
    }
}

fn say_code(code: &str) {
    say(&format!("Setup code: {code}"));
}

/// Prints a line for the operator. A closed pipe is not an error.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}
