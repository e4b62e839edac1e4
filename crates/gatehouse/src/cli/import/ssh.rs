//! SSH: private keys of a folder such as `~/.ssh`, and the public keys of a running agent.

use super::plan::{Item, Plan};
use anyhow::{Context, Result, ensure};
use secrecy::SecretString;
use std::path::Path;
use std::process::Command;

/// The maximum size of a key file. A private key has a few kilobytes.
const MAX_KEY_BYTES: u64 = 64 * 1024;
/// `ssh-add` exits with this code if it reaches no agent (ssh-add(1)).
const NO_AGENT: i32 = 2;

/// Plans the private keys of a folder.
#[expect(
    clippy::disallowed_methods,
    reason = "a command reads small files and blocks no other task"
)]
pub fn plan_folder(plan: &mut Plan, folder: &Path) -> Result<()> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<_> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    for path in paths {
        let is_small =
            std::fs::metadata(&path).is_ok_and(|it| it.is_file() && it.len() <= MAX_KEY_BYTES);
        let Some(text) = is_small
            .then(|| std::fs::read_to_string(&path).ok())
            .flatten()
        else {
            continue;
        };
        let first = text.lines().next().unwrap_or_default();
        if !(first.starts_with("-----BEGIN ") && first.ends_with("PRIVATE KEY-----")) {
            continue;
        }
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let from = Plan::place(&path, 1);
        let is_protected = if first.contains("OPENSSH") {
            ssh_key::PrivateKey::from_openssh(&text)
                .with_context(|| format!("{from}: the private key cannot be read"))?
                .is_encrypted()
        } else {
            text.contains("ENCRYPTED")
        };
        if is_protected {
            let why = "it has a passphrase; run `gatehouse ssh-keys import`, which asks for it";
            plan.leave(format!("SSH key {name}"), from, why);
            continue;
        }
        plan.in_clear(format!("SSH key {name}"), from.clone());
        let private_key = SecretString::from(text);
        plan.add(Item::SshKey { name, private_key }, from);
    }
    Ok(())
}

/// Lists the keys of the running agent. An agent makes signatures, but never returns a private key.
pub fn plan_agent(plan: &mut Plan) -> Result<()> {
    let listed = Command::new("ssh-add").arg("-L").output();
    let listed = listed.context("cannot run ssh-add, which lists the keys of the agent")?;
    ensure!(
        listed.status.code() != Some(NO_AGENT),
        "no SSH agent is running; import the files of the keys: gatehouse import ssh-agent --folder ~/.ssh"
    );
    let text = String::from_utf8_lossy(&listed.stdout);
    for (index, line) in text.lines().enumerate() {
        let mut parts = line.splitn(3, ' ');
        let (Some(kind), Some(_), comment) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let name = comment.unwrap_or(kind);
        let from = Plan::place(Path::new("ssh-agent"), index + 1);
        let why = "an agent does not return private keys; import the file of the key: gatehouse import ssh-agent --folder ~/.ssh";
        plan.leave(format!("SSH key {name} ({kind})"), from, why);
    }
    Ok(())
}
