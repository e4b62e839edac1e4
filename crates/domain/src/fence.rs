//! A condition that must be true whenever a task acts outside the database. If a process was suspended, another
//! process may have taken over its work. When the suspended process continues, it must not send anything for that
//! work. The fence belongs to the task, so that functions in between need no parameter for it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static CURRENT: Fence;
}

/// Work that runs with a fence.
pub type Fenced<F> = TaskLocalFuture<Fence, F>;

/// Decides whether a task may still act. The default permits everything.
#[derive(Clone, Default)]
pub struct Fence(Option<Arc<Condition>>);

struct Condition {
    holds: Box<dyn Fn() -> bool + Send + Sync>,
    has_refused: AtomicBool,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fence")
    }
}

impl Fence {
    /// Creates a fence that permits actions while `holds` returns true. `holds` must not block.
    pub fn new(holds: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Condition {
            holds: Box::new(holds),
            has_refused: AtomicBool::new(false),
        })))
    }

    /// Returns the fence of the running task.
    pub fn current() -> Self {
        CURRENT.try_with(Clone::clone).unwrap_or_default()
    }

    /// Returns whether the task may act now.
    pub fn holds(&self) -> bool {
        let Some(condition) = &self.0 else {
            return true;
        };
        let holds = (condition.holds)();
        if !holds {
            condition.has_refused.store(true, Ordering::Relaxed);
        }
        holds
    }

    /// Returns whether an action was refused. A failure of the task then says nothing about its work.
    pub fn has_refused(&self) -> bool {
        let condition = self.0.as_ref();
        condition.is_some_and(|condition| condition.has_refused.load(Ordering::Relaxed))
    }

    /// Returns whether there is a condition.
    pub const fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Runs `work` with this fence. Tasks that `work` spawns have no fence unless they are also run with one.
    pub fn over<F: Future>(self, work: F) -> Fenced<F> {
        CURRENT.scope(self, work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "the test awaits the task")]
    async fn a_fence_belongs_to_its_task() {
        assert!(Fence::current().holds());
        assert!(!Fence::current().is_set());
        let closed = Fence::new(|| false);
        let work = async {
            assert!(Fence::current().is_set());
            let spawned = tokio::spawn(async { Fence::current().holds() });
            (Fence::current().holds(), spawned.await.unwrap())
        };
        assert!(!closed.has_refused());
        assert_eq!(closed.clone().over(work).await, (false, true));
        assert!(closed.has_refused());
        assert!(!Fence::default().has_refused());
    }
}
