//! `backup create --to` with `--url`: the server sends a backup, and this machine stores it.

use super::super::client::Client;
use super::super::output::{Output, line, note, warn};
use super::super::{progress, usage};
use super::record;
use super::target::{Target, UNENCRYPTED, new_file, refuse_terminal};
use anyhow::{Context, Result, ensure};
use gatehouse_backup::folder::{self, NewFile};
use gatehouse_store::FileOwner;
use reqwest::{Response, header};
use serde_json::{Value, json};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const PATH: &str = "/api/backup/stream";

/// The destination of a backup, and the number of backups to keep there.
pub(super) struct Destination {
    pub(super) target: Target,
    pub(super) keep: Option<u16>,
}

/// Fetches a backup.
pub(super) async fn run(
    client: &Client,
    out: &Output,
    params: &Value,
    to: Destination,
) -> Result<ExitCode> {
    let Destination { target, keep } = to;
    usage::ensure(
        keep.is_none() || matches!(target, Target::Directory(_)),
        "--keep needs a directory",
    )?;
    match &target {
        Target::Stdout => refuse_terminal()?,
        // This is checked before the server makes a backup.
        Target::File(path) => ensure!(!path.exists(), "{} already exists", path.display()),
        Target::Directory(_) => {}
    }
    let response = client.download(PATH, params).await?;
    let name = name_of(&response).context("the server did not name the backup")?;
    if !folder::is_encrypted(&name) {
        warn(UNENCRYPTED);
    }
    // There may be no installation on this machine.
    let owner = FileOwner::default();
    let file = match target {
        Target::Stdout => {
            let mut stdout = std::io::stdout().lock();
            copy(client, response, &mut stdout).await?;
            stdout.flush()?;
            return Ok(ExitCode::SUCCESS);
        }
        Target::File(path) => new_file(owner, &path, NewFile::create)?,
        Target::Directory(directory) => {
            new_file(owner, &directory.join(&name), NewFile::create_numbered)?
        }
    };
    let (bytes, path) = to_file(client, response, file).await?;
    let deleted = match (keep, path.parent()) {
        (Some(keep), Some(directory)) => folder::prune(directory, keep.into(), &path)?,
        _ => Vec::new(),
    };
    let deleted: Vec<Value> = deleted.iter().map(record).collect();
    let made = json!({
        "path": path, "bytes": bytes, "encrypted": folder::is_encrypted(&name), "deleted": deleted,
    });
    out.record(&made, || {
        line(path.display());
        let size = indicatif::BinaryBytes(bytes);
        note(format!(
            "{size}. Check it with: gatehouse backup verify FILE"
        ));
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the name in `Content-Disposition`, if it is a backup's name and cannot lead to another directory.
fn name_of(response: &Response) -> Option<String> {
    let disposition = response.headers().get(header::CONTENT_DISPOSITION)?;
    let (_, rest) = disposition.to_str().ok()?.split_once("filename=\"")?;
    let (name, _) = rest.split_once('"')?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let is_name = name.starts_with("gatehouse-") && name.chars().all(is_plain);
    is_name.then(|| name.to_owned())
}

/// Stores the backup and returns its size and path. If the backup is incomplete, leaves no file.
async fn to_file(client: &Client, response: Response, file: NewFile) -> Result<(u64, PathBuf)> {
    let mut to = BufWriter::new(&file);
    let bytes = copy(client, response, &mut to).await?;
    to.flush()?;
    drop(to);
    let path = file.keep().context("cannot write the backup")?;
    Ok((bytes, path))
}

/// Copies the backup and shows how much has arrived. The server does not report the size in
/// advance.
async fn copy(client: &Client, response: Response, to: &mut impl Write) -> Result<u64> {
    let bar = progress::bar("Downloading");
    let copied = copy_with(client, response, to, |bytes| {
        bar.set_message(received(bytes));
    });
    let copied = copied.await;
    bar.finish_and_clear();
    copied
}

async fn copy_with(
    client: &Client,
    mut response: Response,
    to: &mut impl Write,
    step: impl Fn(u64),
) -> Result<u64> {
    let mut written = 0;
    while let Some(piece) = client.next_bytes(&mut response).await? {
        to.write_all(&piece)?;
        written += piece.len() as u64;
        step(written);
    }
    Ok(written)
}

fn received(bytes: u64) -> String {
    format!("Downloading: {}", indicatif::BinaryBytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_of_a_download_is_its_size_so_far() {
        assert_eq!(received(0), "Downloading: 0 B");
        assert_eq!(received(3 << 20), "Downloading: 3.00 MiB");
    }
}
