//! `move`: copies everything into another database, from SQLite to PostgreSQL or back.

use super::globals::{DatabaseUrlText, Globals};
use super::offline::{CHOOSE, RUNNING, note_change};
use super::output::{Output, line, note};
use super::{progress, usage};
use anyhow::{Context, Result, bail, ensure};
use gatehouse::data_dir::{self, DataDirError, Locks};
use gatehouse_auth::audit::kinds;
use gatehouse_config::{DatabaseUrl, Layers, MASK};
use gatehouse_services::backup::database_location;
use gatehouse_store::{
    FileOwner, ImportError, Location, MoveStep, MovedTable, NodeLock, move_rows,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// The flags of `move`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An empty database, or one with an unfinished move
    #[arg(long, value_name = "URL")]
    to: DatabaseUrlText,
    /// The database with the rows [default: the server's database]
    #[arg(long, value_name = "URL")]
    from: Option<DatabaseUrlText>,
}

/// A database that no server uses. A file cannot be used by a server until this value is dropped.
struct Held {
    location: Location,
    engine: &'static str,
    _locks: Option<Locks>,
    _nodes: Option<NodeLock>,
}

/// Runs `move`.
pub async fn run(globals: &Globals, out: &Output, args: &Args) -> Result<ExitCode> {
    let layers = globals.layers()?;
    usage::ensure(
        globals.given_url(&layers)?.is_none(),
        "a database is moved while its server is stopped; omit --url and unset SERVICE_URL",
    )?;
    let from = match &args.from {
        Some(text) => text.parse().context("--from")?,
        None => layers.resolve(&BTreeMap::new())?.settings.database.url,
    };
    let to = args.to.parse().context("--to")?;
    usage::ensure(
        !is_same_file(&layers, &from, &to),
        "--to names the database that is moved; nothing was changed",
    )?;
    let source = hold(&layers, &from, false).await?;
    let target = hold(&layers, &to, true).await?;
    let bar = progress::bar("Copying");
    let moved = move_rows(&source.location, &target.location, |step, done, total| {
        bar.set_message(match step {
            MoveStep::Copy => "Copying",
            MoveStep::Compare => "Comparing",
        });
        progress::show(&bar, done, total);
    });
    let moved = moved.await;
    bar.finish_and_clear();
    let moved = match moved {
        Err(ImportError::NotEmpty) => bail!(
            "the target already has rows, and no move into it is unfinished. Nothing was changed. Use an empty \
             database. If a move into this one was interrupted before, it had finished: start the server on it"
        ),
        moved => moved?,
    };
    let engines = json!({ "from": source.engine, "to": target.engine });
    drop((source, target));
    note_change(
        &globals.with_database(&args.to),
        kinds::DATABASE_MOVED,
        engines,
    )
    .await;
    report(out, &moved, &to)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns whether both URLs name the same SQLite file. A file that does not exist is the same only under the same
/// path.
fn is_same_file(layers: &Layers, from: &DatabaseUrl, to: &DatabaseUrl) -> bool {
    let (DatabaseUrl::Sqlite { path: from }, DatabaseUrl::Sqlite { path: to }) = (from, to) else {
        return false;
    };
    let [from, to] = [from, to].map(|path| {
        let path = layers.data_dir().join(path);
        path.canonicalize().unwrap_or(path)
    });
    from == to
}

/// Fails if a server uses the database. Locks the file of a SQLite database. A new file is created for its owner only.
async fn hold(layers: &Layers, url: &DatabaseUrl, is_target: bool) -> Result<Held> {
    let location = database_location(url, layers.data_dir())?;
    let DatabaseUrl::Sqlite { path } = url else {
        let nodes = NodeLock::take(&location).await?;
        ensure!(
            nodes.is_some(),
            "a server or another command uses the database {url}: stop it first"
        );
        return Ok(Held {
            engine: location.engine().name(),
            location,
            _locks: None,
            _nodes: nodes,
        });
    };
    let path = layers.data_dir().join(path);
    let directory = path.parent().unwrap_or(Path::new("."));
    if is_target {
        // If this fails, the next call reports an error.
        drop(FileOwner::of(layers.data_dir()).create_directory(directory));
        data_dir::prepare(directory)?;
    } else {
        ensure!(
            path.is_file(),
            "there is no database {}; {CHOOSE}",
            path.display()
        );
    }
    let locks = match Locks::take(directory, &path) {
        Ok(locks) => locks,
        Err(DataDirError::Locked { path }) => {
            bail!("{RUNNING} ({}): stop it first", path.display())
        }
        Err(error) => return Err(error.into()),
    };
    drop(data_dir::open_private(&path)?);
    Ok(Held {
        engine: location.engine().name(),
        location,
        _locks: Some(locks),
        _nodes: None,
    })
}

fn report(out: &Output, moved: &[MovedTable], to: &DatabaseUrl) -> Result<()> {
    let rows: u64 = moved.iter().map(|table| table.rows).sum();
    let tables: Vec<Value> = moved
        .iter()
        .map(|table| {
            let sum = format!("{:032x}", table.sum);
            json!({ "name": table.name, "rows": table.rows, "sum": sum })
        })
        .collect();
    out.record(&json!({ "rows": rows, "tables": tables }), || {
        line(format!(
            "Moved {rows} rows of {} tables. Both databases were compared row by row and are equal.",
            moved.len()
        ));
        note("The source was not changed. The files of the data directory stay where they are.");
        let shown = to.to_string();
        let password = if shown.contains(MASK) {
            format!(", with the password instead of {MASK}")
        } else {
            String::new()
        };
        note(format!(
            "Before you start the server, set its database{password}:\n[database]\nurl = {}",
            json!(shown)
        ));
    })
}
