//! `bench talk`: the time that the gateway adds to spoken conversations. Recognizer, model and voice answer
//! immediately.

mod caller;
mod double;

use crate::figures::{millis, percentile};
use crate::owner::Installation;
use crate::table::{Goal, Report};
use anyhow::Result;
use caller::{Caller, Turn};
use double::Double;
use futures_util::future::try_join_all;
use std::time::{Duration, Instant};

/// Arguments of `talk`.
#[derive(clap::Args)]
pub struct Args {
    /// Concurrent conversations
    #[arg(long, default_value_t = 10)]
    conversations: usize,
    /// Turns of each conversation; each takes three seconds
    #[arg(long, default_value_t = 10)]
    turns: usize,
}

/// Runs the measurements and prints the table.
pub async fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let double = Double::start().await?;
    let url = double.base_url();
    let environment = [
        ("SERVICE_MODELS__PROVIDERS__DOUBLE__BASE_URL", url.clone()),
        (
            "SERVICE_MODELS__PROVIDERS__DOUBLE__API_KEY",
            "sk".to_owned(),
        ),
        ("SERVICE_MODELS__DEFAULT", "double/m0".to_owned()),
        ("SERVICE_MODELS__AUTODETECT", "false".to_owned()),
        ("SERVICE_VOICE__CACHE_MAX_BYTES", "0".to_owned()),
        ("SERVICE_VOICE__TTS__OPENAI__BASE_URL", url.clone()),
        ("SERVICE_VOICE__TTS__OPENAI__API_KEY", "sk".to_owned()),
        ("SERVICE_VOICE__STT__WHISPER__BASE_URL", url),
        ("SERVICE_VOICE__STT__WHISPER__API_KEY", "sk".to_owned()),
    ];
    let installation = Installation::set_up(&environment).await?;
    let gateway = installation.start()?;
    let mut report = Report::default();
    for conversations in [1, args.conversations] {
        let before = (gateway.processor_time()?, Instant::now());
        let calls = (0..conversations).map(|number| {
            let (double, cookie, turns) = (double.clone(), installation.cookie(), args.turns);
            let address = gateway.address;
            async move {
                let mut caller = Caller::call(address, cookie, double, number).await?;
                caller.talk(turns).await
            }
        });
        let turns: Vec<Turn> = try_join_all(calls).await?.into_iter().flatten().collect();
        let busy = gateway
            .processor_time()?
            .saturating_sub(before.0)
            .as_secs_f64();
        let passed = before.1.elapsed().as_secs_f64();
        let what = match conversations {
            1 => "one conversation".to_owned(),
            _ => format!("{conversations} at once"),
        };
        let mut times = |name: &str, aim: Goal, of: fn(&Turn) -> Duration| {
            let mut all: Vec<Duration> = turns.iter().map(of).collect();
            for (percent, share) in [("p50", 0.5), ("p99", 0.99)] {
                let value = millis(percentile(&mut all, share));
                report.value(format!("{what}: {name}, {percent}"), aim, value, (1, "ms"));
            }
        };
        times("end of speech to turn", Goal::Reported, |turn| turn.to_turn);
        let limit = Goal::AtMost(50.0);
        times("first sentence to first audio", limit, |turn| turn.to_audio);
        let percent = busy / passed * 100.0;
        let name = format!("{what}: processor of the gateway");
        report.value(name, Goal::Reported, percent, (0, "% of a core"));
    }
    report.print();
    let cores = std::thread::available_parallelism()?;
    eprintln!(
        "{cores} cores, shared by gateway, doubles and callers; {} turns of each conversation; {:.0} s",
        args.turns,
        begun.elapsed().as_secs_f64()
    );
    gateway.stop()
}
