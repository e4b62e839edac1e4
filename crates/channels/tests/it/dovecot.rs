//! Runs Dovecot (<https://doc.dovecot.org/2.3/>) with one user and one mailbox, in a temporary directory.

use super::imap::{PASSWORD, USER};
use gatehouse_doubles::prepared;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;

/// Longer than any step of these tests takes.
const LONG: Duration = Duration::from_mins(1);
/// The user who reads the emails if the tests run as root. Dovecot refuses to read emails as root.
const NOBODY: u32 = 65_534;

pub struct Dovecot {
    program: PathBuf,
    /// The ports for STARTTLS and for TLS from the first byte.
    pub ports: [u16; 2],
    /// The certificate of `localhost`.
    pub certificate: Vec<u8>,
    folder: TempDir,
    process: Option<Child>,
    delivered: u32,
}

impl Dovecot {
    /// Starts the server. Returns `None` if the test command could not prepare it.
    pub async fn start() -> Option<Self> {
        let program = prepared("GATEHOUSE_TEST_DOVECOT", "Dovecot")?;
        let folder = tempfile::tempdir().unwrap();
        // The processes of Dovecot run as several users.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let mut server = Self {
            program,
            ports: free_ports(),
            certificate: made.cert.der().to_vec(),
            folder,
            process: None,
            delivered: 0,
        };
        let key = made.signing_key.serialize_pem();
        server.put("key.pem", &key).await;
        server.put("certificate.pem", &made.cert.pem()).await;
        server
            .put("users", &format!("{USER}:{{PLAIN}}{PASSWORD}\n"))
            .await;
        for name in ["cur", "new", "tmp", "said"] {
            let path = server.path(&format!("mails/{name}"));
            fs::create_dir_all(&path).unwrap();
            server.give(&path);
        }
        server.give(&server.path("mails"));
        server.put("dovecot.conf", &server.settings()).await;
        server.run().await;
        Some(server)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn put(&self, name: &str, text: &str) {
        tokio::fs::write(self.path(name), text).await.unwrap();
    }

    fn is_root(&self) -> bool {
        self.folder.path().metadata().unwrap().uid() == 0
    }

    /// Makes the user who reads the emails the owner of a file.
    fn give(&self, path: &Path) {
        if self.is_root() {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    fn settings(&self) -> String {
        let folder = self.folder.path().display();
        let [plain, tls] = self.ports;
        let (users, owner) = if self.is_root() {
            // By default, Dovecot uses the users that its package creates.
            (String::new(), format!("uid={NOBODY} gid={NOBODY}"))
        } else {
            let name = |flag| {
                let output = Command::new("id").arg(flag).output().unwrap();
                String::from_utf8(output.stdout).unwrap().trim().to_owned()
            };
            let (user, group) = (name("-un"), name("-gn"));
            let users = format!(
                "default_internal_user = {user}\ndefault_internal_group = {group}\n\
                 default_login_user = {user}\n"
            );
            let is_own = self.folder.path().metadata().unwrap();
            (users, format!("uid={} gid={}", is_own.uid(), is_own.gid()))
        };
        format!(
            "{users}base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
first_valid_uid = 1
mail_location = maildir:{folder}/mails
rawlog_dir = {folder}/mails/said
auth_failure_delay = 0
ssl = yes
ssl_cert = <{folder}/certificate.pem
ssl_key = <{folder}/key.pem
disable_plaintext_auth = yes
service imap-login {{
  inet_listener imap {{
    port = {plain}
  }}
  inet_listener imaps {{
    port = {tls}
    ssl = yes
  }}
}}
passdb {{
  driver = passwd-file
  args = scheme=PLAIN {folder}/users
}}
userdb {{
  driver = static
  args = {owner} home={folder}/mails
}}
"
        )
    }

    /// Starts the process and waits until it accepts connections.
    pub async fn run(&mut self) {
        let mut command = Command::new(&self.program);
        command.arg("-F").arg("-c").arg(self.path("dovecot.conf"));
        let process = command.stdin(Stdio::null()).spawn().unwrap();
        self.process = Some(process);
        let accepts = async {
            while TcpStream::connect(("127.0.0.1", self.ports[0]))
                .await
                .is_err()
            {
                let ended = self.process.as_mut().unwrap().try_wait().unwrap();
                assert!(ended.is_none(), "{}", self.log());
                tokio::task::yield_now().await;
            }
        };
        let accepts = tokio::time::timeout(LONG, accepts).await;
        assert!(accepts.is_ok(), "{}", self.log());
    }

    /// Ends the process and thereby its connections.
    pub fn stop(&mut self) {
        let Some(mut process) = self.process.take() else {
            return;
        };
        let id = process.id().to_string();
        let killed = Command::new("kill").arg(&id).status();
        if !killed.is_ok_and(|status| status.success()) {
            drop(process.kill());
        }
        drop(process.wait());
    }

    /// Adds an email. Its lines end with LF here.
    pub async fn deliver(&mut self, mail: &str) {
        self.delivered += 1;
        let name = format!("{}.test", self.delivered);
        let path = self.path(&format!("mails/tmp/{name}"));
        tokio::fs::write(&path, mail).await.unwrap();
        self.give(&path);
        fs::rename(path, self.path(&format!("mails/new/{name}"))).unwrap();
    }

    /// Gives the mailbox another UIDVALIDITY, as after a deletion and new creation. The server must not run.
    pub fn renumber(&self) {
        for entry in fs::read_dir(self.path("mails")).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::remove_file(path).unwrap();
            }
        }
    }

    /// Returns the names of the files in the mailbox. A name ends with the flags of its email.
    pub fn mails(&self) -> Vec<String> {
        let folders = ["mails/new", "mails/cur"].map(|name| self.path(name));
        let entries = folders.iter().flat_map(|path| fs::read_dir(path).unwrap());
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    /// Returns the input of clients after their logins (`in`) or the output to them (`out`).
    pub fn said(&self, direction: &str) -> String {
        let entries = fs::read_dir(self.path("mails/said")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let paths = paths.filter(|path| path.extension().is_some_and(|end| end == direction));
        paths.map(|path| text(&path)).collect()
    }

    /// Waits until a client has sent this command.
    pub async fn until_command(&self, command: &str) {
        let said = async {
            while !self.said("in").contains(command) {
                tokio::task::yield_now().await;
            }
        };
        let said = tokio::time::timeout(LONG, said).await;
        assert!(said.is_ok(), "{}", self.log());
    }

    fn log(&self) -> String {
        text(&self.path("log"))
    }
}

impl Drop for Dovecot {
    fn drop(&mut self) {
        self.stop();
    }
}

fn text(path: &Path) -> String {
    #[expect(clippy::disallowed_methods, reason = "a small file, in a test")]
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns two unused ports.
fn free_ports() -> [u16; 2] {
    let sockets = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    sockets.map(|socket| socket.local_addr().unwrap().port())
}
