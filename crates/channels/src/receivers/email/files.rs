//! Fetches the files of an email.

use super::content::{self, MAX_MAIL};
use super::settings::Settings;
use crate::error::Failure;
use crate::files::{FetchedFile, FileLimits};
use crate::receivers::Source;

const GONE: &str = "The email is no longer in the mailbox.";

/// Reads files of one email over a separate connection, and downloads the email once. A file's ID consists of the
/// email's ID and the number of the file, from 0. IDs from earlier versions have no number.
pub(super) async fn fetch(
    source: Source<'_>,
    file_ids: &[&str],
    limits: FileLimits,
) -> Result<Vec<Result<FetchedFile, Failure>>, Failure> {
    let reading = tokio::time::timeout(limits.time, read(source, file_ids));
    let late = |_| Failure::unreachable("The email was not fetched in time.");
    Ok(kept(reading.await.map_err(late)??, limits))
}

/// Applies the limits. `None` means that the email has no attachment with this index.
fn kept(files: Vec<Option<Vec<u8>>>, limits: FileLimits) -> Vec<Result<FetchedFile, Failure>> {
    let mut used = 0_usize;
    let kept = files.into_iter().map(|file| {
        let data = file.ok_or_else(|| Failure::refused(GONE))?;
        let at_most = limits.next(used);
        if data.len() > at_most {
            return Ok(limits.refused(at_most));
        }
        used += data.len();
        Ok(FetchedFile::Data(data))
    });
    kept.collect()
}

async fn read(source: Source<'_>, file_ids: &[&str]) -> Result<Vec<Option<Vec<u8>>>, Failure> {
    let settings = Settings::of(&source)?;
    let mut session = settings.open(source).await?;
    let place = format!("{}-{}-", settings.place(), session.mailbox.validity);
    let gone = || Failure::refused(GONE);
    let parsed = file_ids.iter().map(|id| parse(id, &place));
    let parsed: Vec<(u32, usize)> = parsed.collect::<Option<_>>().ok_or_else(gone)?;
    let Some(&(uid, _)) = parsed.first() else {
        return Ok(Vec::new());
    };
    let most = usize::try_from(MAX_MAIL).unwrap_or(usize::MAX);
    let mail = session.fetch(uid, "", most).await?.ok_or_else(gone)?;
    session.log_out().await;
    let reading = tokio::task::spawn_blocking(move || content::contents(&mail.bytes));
    let mut files = reading.await.map_err(|_| gone())?;
    let wanted = parsed.into_iter().map(|(_, number)| {
        let file = files.get_mut(number)?;
        Some(std::mem::take(file)).filter(|data| !data.is_empty())
    });
    Ok(wanted.collect())
}

/// Returns the number of the email and of its file.
fn parse(id: &str, place: &str) -> Option<(u32, usize)> {
    let rest = id.strip_prefix(place)?;
    let (uid, number) = rest.split_once('-').unwrap_or((rest, "0"));
    Some((uid.parse().ok()?, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_an_earlier_version_is_the_first_file() {
        assert_eq!(parse("p-1-7-2", "p-1-"), Some((7, 2)));
        assert_eq!(parse("p-1-7", "p-1-"), Some((7, 0)));
        for bad in ["p-2-7-2", "p-1-", "p-1-7-", "p-1-x-1", "p-1-7-1-1"] {
            assert_eq!(parse(bad, "p-1-"), None, "{bad}");
        }
    }
}
