//! `service`: installs the gateway as a systemd service of the system or of one user, and removes it again. The plan is
//! shown before anything is written. The units come from `deploy/`.

mod plan;
mod unit;

use super::globals::Globals;
use super::output::{Output, note};
use super::{prompt, usage};
use anyhow::{Context, Result, bail, ensure};
use plan::{Plan, Step};
use rustix::process::geteuid;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use unit::{MARK, SYSTEM_DATA_DIR};

const UNIT: &str = "gatehouse.service";
const SYSTEM_UNITS: &str = "etc/systemd/system";
/// Directories where packages install their units.
const PACKAGED_UNITS: [&str; 2] = ["usr/lib/systemd/system", "lib/systemd/system"];
const SYSUSERS: &str = "etc/sysusers.d/gatehouse.conf";
/// The path for installing the program if the system service cannot read the program that was
/// started.
const SYSTEM_PROGRAM: &str = "usr/local/bin/gatehouse";

/// `gatehouse service …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Write a systemd unit, and start the service
    Install(Args),
    /// Stop the service, and remove what `install` wrote; data stays
    Uninstall(Args),
}

/// The arguments of `install` and `uninstall`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Args {
    /// The service of the current user [default, except for root]
    #[arg(long, conflicts_with = "system")]
    user: bool,
    /// The service of the system, which runs as a user of its own [default for root]
    #[arg(long)]
    system: bool,
    /// Show the steps and the content of the files, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Write below this directory and run no commands, for building an image
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// The locations of the files, and the user.
struct Locations {
    is_system: bool,
    /// `/`, unless `--root` is given.
    root: PathBuf,
    /// The home directory of a user's service.
    home: PathBuf,
}

/// Shows the plan. Carries it out unless it is a dry run.
pub fn run(globals: &Globals, command: &Command) -> Result<ExitCode> {
    let out = Output::new(globals.json);
    let (args, is_install) = match command {
        Command::Install(args) => (args, true),
        Command::Uninstall(args) => (args, false),
    };
    let place = Locations::of(globals, args)?;
    let mut plan = if is_install {
        install(globals, &place)?
    } else {
        uninstall(&place)?
    };
    if args.root.is_some() {
        plan.0.retain(|step| !matches!(step, Step::Run { .. }));
    }
    plan.show(&out, args.dry_run)?;
    if args.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if !args.yes {
        usage::ensure(
            prompt::is_interactive(),
            "there is no terminal to confirm this on; nothing was changed: repeat with --yes",
        )?;
        ensure!(prompt::yes("Continue?")?, "nothing was changed");
    }
    plan.carry_out()?;
    if !out.is_json() && args.root.is_none() {
        note(place.epilogue(is_install));
    }
    Ok(ExitCode::SUCCESS)
}

impl Locations {
    fn of(globals: &Globals, args: &Args) -> Result<Self> {
        let is_root = geteuid().is_root();
        let is_system = args.system || (is_root && !args.user);
        let writes_elsewhere = args.root.is_some() || args.dry_run;
        ensure!(
            !is_system || is_root || writes_elsewhere,
            "only root can install or remove a service of the system; nothing was changed: use sudo, or --user"
        );
        let home = if is_system {
            PathBuf::new()
        } else {
            let layers = globals.layers()?;
            let variables = &layers.process().child_variables;
            let home = variables.iter().find(|(name, _)| name == "HOME");
            let home = home.context("HOME is not set")?;
            PathBuf::from(&home.1)
        };
        let root = args.root.clone().unwrap_or_else(|| "/".into());
        let root = std::path::absolute(root)
            .map_err(|_| usage::wrong("the value of --root is not a path"))?;
        Ok(Self {
            is_system,
            root,
            home,
        })
    }

    fn unit(&self) -> PathBuf {
        if self.is_system {
            return self.root.join(SYSTEM_UNITS).join(UNIT);
        }
        self.below_root(&self.home)
            .join(".config/systemd/user")
            .join(UNIT)
    }

    fn below_root(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Returns the command line of systemctl for this service manager.
    fn systemctl(&self, arguments: &[&str]) -> Step {
        let manager = (!self.is_system).then_some("--user");
        Step::run("systemctl", manager.iter().chain(arguments))
    }

    fn epilogue(&self, is_install: bool) -> String {
        match (is_install, self.is_system) {
            (true, true) => "The setup code is in the log: journalctl --unit gatehouse | grep 'Setup code'".into(),
            (true, false) => "The setup code is in the log: journalctl --user --unit gatehouse | grep 'Setup code'\n\
                 The service stops when you log out. To keep it running: loginctl enable-linger"
                .into(),
            (false, true) => format!(
                "{SYSTEM_DATA_DIR}, the user gatehouse and the program stay. Delete them yourself if you do not \
                 need them."
            ),
            (false, false) => "The data directory and the program stay.".into(),
        }
    }
}

fn install(globals: &Globals, place: &Locations) -> Result<Plan> {
    let unit = place.unit();
    ensure_ours(&unit)?;
    let current = std::env::current_exe().context("cannot find the path of this program")?;
    let bind = globals.bind.as_deref();
    if let Some(address) = bind {
        usage::ensure(
            address.parse::<std::net::SocketAddr>().is_ok(),
            "the value of --bind is not an address with a port, such as 127.0.0.1:8420",
        )?;
    }
    let mut steps = Vec::new();
    if place.is_system {
        let message = format!(
            "the data directory of the system's service is {SYSTEM_DATA_DIR}; nothing was changed: leave out --data-dir"
        );
        usage::ensure(globals.data_dir.is_none(), &message)?;
        for folder in PACKAGED_UNITS {
            let packaged = place.root.join(folder).join(UNIT);
            if packaged.exists() {
                bail!(
                    "a package has installed {}; nothing was changed: run systemctl enable --now gatehouse",
                    packaged.display()
                );
            }
        }
        let program = if ["/usr", "/opt"].iter().any(|top| current.starts_with(top)) {
            current
        } else {
            let program = place.root.join(SYSTEM_PROGRAM);
            steps.push(Step::copy(current, program));
            Path::new("/").join(SYSTEM_PROGRAM)
        };
        steps.push(Step::write(
            place.root.join(SYSUSERS),
            unit::SYSUSERS.into(),
        ));
        steps.push(Step::write(unit, unit::of_system(&program, bind)?));
        steps.push(Step::run("systemd-sysusers", &[]));
    } else {
        let layers = globals.layers()?;
        let data_dir =
            std::path::absolute(layers.data_dir()).context("the data directory is not a path")?;
        steps.push(Step::write(unit, unit::of_user(&current, &data_dir, bind)?));
    }
    steps.push(place.systemctl(&["daemon-reload"]));
    steps.push(place.systemctl(&["enable", UNIT]));
    // If the service is already running, a restart starts the new version.
    steps.push(place.systemctl(&["restart", UNIT]));
    Ok(Plan(steps))
}

fn uninstall(place: &Locations) -> Result<Plan> {
    let unit = place.unit();
    ensure!(
        unit.exists(),
        "there is no {}; nothing was changed",
        unit.display()
    );
    ensure_ours(&unit)?;
    let mut steps = vec![
        place.systemctl(&["disable", "--now", UNIT]),
        Step::remove(unit),
    ];
    let sysusers = place.root.join(SYSUSERS);
    if place.is_system && sysusers.exists() {
        steps.push(Step::remove(sysusers));
    }
    steps.push(place.systemctl(&["daemon-reload"]));
    Ok(Plan(steps))
}

/// Refuses to change a unit that `service install` did not write.
#[expect(
    clippy::disallowed_methods,
    reason = "the command is not asynchronous and reads one small file"
)]
fn ensure_ours(unit: &Path) -> Result<()> {
    match std::fs::read_to_string(unit) {
        Ok(text) if text.starts_with(MARK) => Ok(()),
        Ok(_) => bail!(
            "{} was not written by this command; nothing was changed: remove the file if you do not need it",
            unit.display()
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", unit.display())),
    }
}
