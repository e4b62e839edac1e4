//! Draws sequences of operations, runs them in groups, and shrinks failures.

use super::model::{ModelState, Problem};
use super::node;
use super::ops::{self, Op};
use super::whole;
use gatehouse_store::testing::TestDatabase;
use gatehouse_store::{Conn, Store};
use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::Cell;

/// Maximum number of operations per case.
const CASE: usize = 400;
/// Number of operations per transaction.
const GROUP: usize = 20;
/// The queue of a case must be empty within this number of rounds of one hour each. A session has at most as many
/// deliveries as the case has operations.
const ROUNDS: usize = CASE + 50;
/// Limits for shrinking a failure: number of attempts, and milliseconds.
const SHRINKS: u32 = 100_000;
const SHRINKING_MS: u32 = 60_000;

/// How many operations to run, and the seed.
#[derive(Clone, Copy)]
pub struct Plan {
    seed: u64,
    steps: usize,
}

impl Plan {
    /// Reads the plan from the environment variables, with these defaults.
    pub fn from_environment(seed: u64, steps: usize) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the test's own variables, not settings"
        )]
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
        let asked: Option<u64> = number("GATEHOUSE_QUEUE_STEPS");
        Self {
            seed: number("GATEHOUSE_QUEUE_SEED").unwrap_or(seed),
            steps: asked.map_or(steps, |steps| usize::try_from(steps).unwrap()),
        }
    }

    /// Runs the plan on one engine's databases, if that engine is available.
    pub fn run<F>(self, database: impl Fn() -> F)
    where
        F: Future<Output = Option<TestDatabase>>,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let Some(template) = runtime.block_on(database()) else {
            return;
        };
        let store = runtime.block_on(template.open());
        let sequence = vec(ops::op(), 1..=CASE);
        let (ran, mut outcome, mut number) = (Cell::new(0), Ok(()), 0_u64);
        while ran.get() < self.steps && outcome.is_ok() {
            outcome = runner(self.seed, number).run(&sequence, |ops| {
                ran.set(ran.get() + ops.len());
                let ran = runtime.block_on(case(&store, &ops));
                ran.map_err(TestCaseError::fail)
            });
            number += 1;
        }
        runtime.block_on(store.close());
        if let Err(TestError::Fail(_, ops)) = &outcome {
            let seed = self.seed;
            eprintln!("seed {seed}, {} operations: {ops:#?}", ops.len());
        }
        if let Err(TestError::Fail(why, _) | TestError::Abort(why)) = outcome {
            panic!("seed {}: {}", self.seed, why.message());
        }
        eprintln!("seed {}: {} operations", self.seed, ran.get());
    }
}

/// Creates a runner for one case, because a runner counts cases over its lifetime. The seed includes the
/// case's number.
fn runner(seed: u64, number: u64) -> TestRunner {
    let config = Config {
        cases: 1,
        failure_persistence: None,
        max_shrink_iters: SHRINKS,
        max_shrink_time: SHRINKING_MS,
        ..Config::default()
    };
    let mut whole = [0; 32];
    whole[..8].copy_from_slice(&seed.to_le_bytes());
    whole[8..16].copy_from_slice(&number.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &whole);
    TestRunner::new_with_rng(config, rng)
}

/// Runs a sequence and then drains the queue. Returns the first failure.
async fn case(store: &Store, ops: &[Op]) -> Result<(), String> {
    let model_state = transaction(store, ModelState::new(), |model_state, conn| {
        Box::pin(async move {
            super::calls::wipe(conn).await?;
            node::begin(model_state, conn).await
        })
    });
    let mut model_state = model_state.await?.0;
    for group in ops.chunks(GROUP) {
        let group = group.to_vec();
        (model_state, _) = transaction(store, model_state, move |model_state, conn| {
            Box::pin(async move {
                for op in group {
                    node::apply(model_state, conn, op)
                        .await
                        .map_err(|problem| match problem {
                            Problem::Wrong(why) => Problem::Wrong(format!("{op:?}: {why}")),
                            Problem::RollBack => Problem::RollBack,
                        })?;
                }
                whole::compare(model_state, conn).await
            })
        })
        .await?;
    }
    model_state.sealed = false;
    for webhook in &mut model_state.webhooks {
        webhook.enabled = true;
    }
    for _ in 0..ROUNDS {
        model_state.now += 3600;
        let is_open;
        (model_state, is_open) = transaction(store, model_state, |model_state, conn| {
            Box::pin(async move {
                for webhook in &model_state.webhooks {
                    super::calls::enable_webhook(conn, &webhook.id, true).await?;
                }
                let is_open = whole::settle(model_state, conn).await?;
                whole::compare(model_state, conn).await?;
                Ok(is_open || super::calls::depth(conn).await? > 0)
            })
        })
        .await?;
        if is_open != Some(true) {
            return Ok(());
        }
    }
    let left = model_state.numbers(super::model::Delivery::is_open);
    Err(format!("parked for ever: {left:?} never run"))
}

type Boxed<'a, T> = futures_util::future::BoxFuture<'a, T>;

/// Runs a job in one transaction. If the job requests a rollback, also restores the state of the model.
async fn transaction<T: Send + 'static>(
    store: &Store,
    model_state: ModelState,
    job: impl for<'c> FnOnce(&'c mut ModelState, &'c mut Conn) -> Boxed<'c, Result<T, Problem>>
    + Send
    + 'static,
) -> Result<(ModelState, Option<T>), String> {
    let before = model_state.clone();
    let ran = store.write(move |conn| {
        Box::pin(async move {
            let mut model_state = model_state;
            let value = job(&mut model_state, conn).await?;
            Ok::<_, Problem>((model_state, Some(value)))
        })
    });
    match ran.await {
        Ok(after) => Ok(after),
        Err(Problem::RollBack) => Ok((before, None)),
        Err(Problem::Wrong(why)) => Err(why),
    }
}
