//! Per-process options that only the environment can set. They are not settings and are never
//! stored.

use crate::environment::Environment;
use crate::error::ConfigError;
use crate::value::web_url;
use secrecy::SecretString;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use url::Url;

/// Options that only the environment can set.
pub struct Process {
    /// `SERVICE_BEHIND_PROXY`: treat every connection as remote.
    pub behind_proxy: bool,
    /// `SERVICE_TRUST_DOCKER_LOOPBACK`: a connection is local if it passes the first three checks.
    pub trust_docker_loopback: bool,
    /// `SERVICE_VAULT_AUTO_UNSEAL_KEY_FILE`: the file with the recovery key. Takes precedence over
    /// `auto_unseal_key`.
    pub auto_unseal_key_file: Option<PathBuf>,
    /// `SERVICE_VAULT_AUTO_UNSEAL_KEY`: the recovery key. Removed by the first call that returns it.
    auto_unseal_key: Mutex<Option<SecretString>>,
    /// `SERVICE_LOG`; also sets `log.level`.
    pub log_filter: Option<String>,
    /// `SERVICE_API_KEY`, for commands against a running server.
    pub api_key: Option<SecretString>,
    /// `SERVICE_URL`: the URL of that server.
    pub url: Option<Url>,
    /// `SERVICE_PASSWORD_FILE`: a file with the password, read instead of asking for it.
    pub password_file: Option<PathBuf>,
    /// `OPENAI_API_KEY`
    pub openai_api_key: Option<SecretString>,
    /// `ANTHROPIC_API_KEY`
    pub anthropic_api_key: Option<SecretString>,
    /// `PATH`, `HOME`, `LANG` and `TZ`: the only variables that child processes inherit.
    pub child_variables: Vec<(String, OsString)>,
    /// Whether `NO_COLOR` is set.
    pub no_color: bool,
    /// `NOTIFY_SOCKET`: the socket on which systemd receives the state of the service. `@` begins the name of an
    /// abstract socket.
    pub notify_socket: Option<String>,
    /// `WATCHDOG_USEC`: systemd stops the service if it receives no notification for this long.
    pub watchdog: Option<Duration>,
}

impl Process {
    /// Removes and returns the recovery key of `SERVICE_VAULT_AUTO_UNSEAL_KEY`. Only the first call returns it, so
    /// no copy stays in memory.
    pub fn take_auto_unseal_key(&self) -> Option<SecretString> {
        let key = self.auto_unseal_key.lock();
        key.unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn read(environment: &Environment) -> Result<Self, ConfigError> {
        let url = environment.text("SERVICE_URL")?.map(web_url).transpose();
        Ok(Self {
            behind_proxy: environment.flag("SERVICE_BEHIND_PROXY")?,
            trust_docker_loopback: environment.flag("SERVICE_TRUST_DOCKER_LOOPBACK")?,
            auto_unseal_key_file: environment.path("SERVICE_VAULT_AUTO_UNSEAL_KEY_FILE"),
            auto_unseal_key: Mutex::new(environment.secret("SERVICE_VAULT_AUTO_UNSEAL_KEY")?),
            log_filter: environment.text("SERVICE_LOG")?.map(str::to_owned),
            api_key: environment.secret("SERVICE_API_KEY")?,
            url: url
                .map_err(|reason| ConfigError::invalid("SERVICE_URL", "SERVICE_URL", &reason))?,
            password_file: environment.path("SERVICE_PASSWORD_FILE"),
            openai_api_key: environment.secret("OPENAI_API_KEY")?,
            anthropic_api_key: environment.secret("ANTHROPIC_API_KEY")?,
            child_variables: environment.for_children(),
            no_color: environment.is_set("NO_COLOR"),
            notify_socket: environment.text("NOTIFY_SOCKET")?.map(str::to_owned),
            watchdog: watchdog(
                environment.text("WATCHDOG_USEC")?,
                environment.text("WATCHDOG_PID")?,
            ),
        })
    }
}

/// Returns the watchdog interval of systemd, if it applies to this process.
fn watchdog(usec: Option<&str>, pid: Option<&str>) -> Option<Duration> {
    let is_meant = pid.is_none_or(|pid| pid.parse() == Ok(std::process::id()));
    let usec: u64 = usec?.parse().ok()?;
    (is_meant && usec > 0).then(|| Duration::from_micros(usec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watchdog_is_only_for_the_process_that_systemd_started() {
        let own = std::process::id().to_string();
        let minute = Some(Duration::from_mins(1));
        assert_eq!(watchdog(Some("60000000"), None), minute);
        assert_eq!(watchdog(Some("60000000"), Some(&own)), minute);
        assert_eq!(watchdog(Some("60000000"), Some("1")), None);
        for without in [None, Some("0"), Some("x")] {
            assert_eq!(watchdog(without, Some(&own)), None);
        }
    }
}
