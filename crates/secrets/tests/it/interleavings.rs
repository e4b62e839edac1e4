//! Every ordered pair of transitions, with the second nested in the first. The first one reads the vault's state
//! and derives its keys. Then the second one runs completely. Then the first one takes effect.

use crate::harness::{Installation, Node, OTHER, PASSWORD, actor, secret, sqlite_home};
use gatehouse_domain::{ErrorCode, Problem, Timestamp};
use gatehouse_secrets::{Secrets, Status, VaultError};
use gatehouse_store::Store;
use gatehouse_vault::RecoveryKey;
use secrecy::ExposeSecret;
use serde_json::json;
use std::sync::Arc;
use tokio::task::JoinSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transition {
    Initialize,
    Unlock,
    Recovery,
    AutoUnseal,
    PasswordChange,
    Rotate,
    RecoveryKey,
    Disable,
    Enable,
    EnableWithoutPassword,
    Seal,
}

const ALL: [Transition; 11] = [
    Transition::Initialize,
    Transition::Unlock,
    Transition::Recovery,
    Transition::AutoUnseal,
    Transition::PasswordChange,
    Transition::Rotate,
    Transition::RecoveryKey,
    Transition::Disable,
    Transition::Enable,
    Transition::EnableWithoutPassword,
    Transition::Seal,
];

/// A transition's result: a recovery key if it created one.
type Answer = Result<Option<String>, ErrorCode>;

fn code(error: impl Into<Problem>) -> ErrorCode {
    error.into().code
}

/// The inputs of a transition, apart from the node.
#[derive(Clone)]
struct TransitionInput {
    secrets: Secrets,
    store: Store,
    recovery_key: String,
}

impl TransitionInput {
    async fn run(&self, transition: Transition) -> Answer {
        let (secrets, password) = (&self.secrets, secret(PASSWORD));
        let shown = |key: secrecy::SecretString| Some(key.expose_secret().to_owned());
        match transition {
            Transition::Initialize => secrets.initialize(actor(), password).await.map(shown),
            Transition::Unlock => secrets
                .unseal_with_password(actor(), &password)
                .await
                .map(|_| None),
            Transition::Recovery => secrets
                .unseal_with_recovery_key(actor(), &self.recovery_key)
                .await
                .map(|_| None),
            Transition::AutoUnseal => {
                let key = secret(&self.recovery_key);
                return if secrets.auto_unseal(None, Some(&key)).await {
                    Ok(None)
                } else {
                    Err(ErrorCode::Conflict)
                };
            }
            Transition::PasswordChange => return self.change_password(|| async {}).await,
            Transition::Rotate => secrets.rotate(actor(), password).await.map(shown),
            Transition::RecoveryKey => secrets.new_recovery_key(actor(), password).await.map(shown),
            Transition::Disable => secrets.disable(actor(), Some(password)).await.map(|_| None),
            Transition::Enable => {
                let enabled = secrets.enable(actor(), Some(password)).await;
                enabled.map(|enabled| enabled.recovery_key.and_then(shown))
            }
            Transition::EnableWithoutPassword => secrets.enable(actor(), None).await.map(|_| None),
            Transition::Seal => secrets.seal(actor()).await.map(|_| None),
        }
        .map_err(code)
    }

    /// Plans a change of the password, runs `between`, and applies and concludes the plan.
    async fn change_password<F: Future<Output = ()>>(&self, between: impl FnOnce() -> F) -> Answer {
        let (current, new) = (secret(PASSWORD), secret(OTHER));
        let plan = self
            .secrets
            .plan_password_change(actor(), &current, &new)
            .await;
        let plan = Arc::new(plan.map_err(code)?);
        between().await;
        let applied = Arc::clone(&plan);
        let write = self.store.write(move |conn| {
            Box::pin(async move { applied.apply(conn, Timestamp::from_millis(7)).await })
        });
        write.await.map_err(|error: VaultError| code(error))?;
        let key = self.secrets.conclude(plan).await;
        Ok(key.map(|key| key.expose_secret().to_owned()))
    }

    /// Runs `inner` between the start and the effect of `outer`. Returns both results, or `None` if
    /// `outer` is refused before it can take effect.
    async fn interleave(&self, outer: Transition, inner: Transition) -> Option<(Answer, Answer)> {
        if outer == Transition::PasswordChange {
            let mut answer = None;
            let changed = self.change_password(|| async { answer = Some(self.run(inner).await) });
            let changed = changed.await;
            return answer.map(|answer| (changed, answer));
        }
        let mut pause = self.secrets.pause_next_transition();
        let (ground, mut running) = (self.clone(), JoinSet::new());
        running.spawn(async move { ground.run(outer).await });
        tokio::select! {
            () = pause.reached() => {}
            Some(_refused) = running.join_next() => return None,
        }
        let answer = self.run(inner).await;
        drop(pause);
        Some((running.join_next().await.unwrap().unwrap(), answer))
    }
}

/// Returns a vault in a given state, to be copied.
async fn template(start: Status) -> (Installation, String) {
    let installation = sqlite_home();
    let node = installation.start().await;
    node.set("A", "value of A").await;
    let key = match start {
        Status::Uninitialized => String::new(),
        Status::Sealed | Status::Unsealed | Status::Disabled => node.initialize().await,
    };
    node.set("B", "value of B").await;
    if start == Status::Disabled {
        node.secrets.disable(actor(), None).await.unwrap();
    }
    node.stop().await;
    (installation, key)
}

/// Nests every transition in each of `outers`. Returns how many of `outers` ended before they could
/// take effect.
async fn every_pair_from(start: Status, outers: &[Transition]) -> usize {
    let (template, recovery_key) = template(start).await;
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for &outer in outers {
        for inner in ALL {
            let installation = template.copy();
            let node = installation.start().await;
            if start == Status::Unsealed {
                node.unlock(PASSWORD).await.unwrap();
            }
            assert_eq!(node.secrets.status(), start);
            let ground = TransitionInput {
                secrets: node.secrets.clone(),
                store: node.store.clone(),
                recovery_key: recovery_key.clone(),
            };
            let Some((first, second)) = ground.interleave(outer, inner).await else {
                refused += 1;
                break;
            };
            let faults = faults(&node, (outer, &first), (inner, &second)).await;
            if !faults.is_empty() {
                wrong.push(format!(
                    "{outer:?} ({first:?}) around {inner:?} ({second:?}): {}",
                    faults.join("; ")
                ));
            }
            node.stop().await;
        }
    }
    assert!(wrong.is_empty(), "from {start}:\n{}", wrong.join("\n"));
    refused
}

/// Returns the invariants that are violated after `outer` took effect around `inner`.
async fn faults(
    node: &Node,
    (outer, first): (Transition, &Answer),
    (inner, second): (Transition, &Answer),
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |holds: bool, what: &str| {
        if !holds {
            faults.push(what.to_owned());
        }
    };
    for code in [first, second]
        .into_iter()
        .filter_map(|answer| answer.as_ref().err())
    {
        let expected = [
            ErrorCode::Conflict,
            ErrorCode::VaultBadKey,
            ErrorCode::VaultSealed,
        ];
        check(expected.contains(code), "an error that explains nothing");
    }
    let status = node.secrets.status();
    let record = node.record().await;
    let encrypted = node.encrypted().await;
    let enabled = node.setting("auth.vault_enabled").await != Some(json!(false));
    let by_database = match (enabled, record.is_some()) {
        (false, _) => status == Status::Disabled,
        (true, false) => status == Status::Uninitialized,
        (true, true) => matches!(status, Status::Sealed | Status::Unsealed),
    };
    check(
        by_database,
        &format!("the status is {status}, and the database disagrees"),
    );
    match status {
        Status::Unsealed => check(encrypted == 2, "not every row is encrypted"),
        Status::Disabled | Status::Uninitialized => {
            check(encrypted == 0, "rows are encrypted without a vault");
        }
        Status::Sealed => {}
    }
    // A later request that succeeded must not be undone.
    if second.is_ok() {
        match inner {
            Transition::Seal => check(status != Status::Unsealed, "the seal was undone"),
            Transition::Disable => check(status == Status::Disabled, "it was switched on again"),
            Transition::Enable | Transition::EnableWithoutPassword => {
                check(status != Status::Disabled, "it was switched off again");
            }
            _ => {}
        }
    }
    if first.is_ok() && outer == Transition::Seal {
        check(status != Status::Unsealed, "it is not sealed");
    }
    let hash = record
        .as_ref()
        .and_then(|row| row.recovery_key_hash.clone());
    for key in [first, second].into_iter().flatten().flatten() {
        let parsed = RecoveryKey::parse(key).unwrap();
        let works = hash.as_deref().is_some_and(|hash| parsed.hash() == *hash);
        check(works, "a recovery key was given out that does not work");
    }
    let changed =
        |transition, answer: &Answer| transition == Transition::PasswordChange && answer.is_ok();
    let password = if changed(outer, first) || changed(inner, second) {
        OTHER
    } else {
        PASSWORD
    };
    let opened = open(node, (record.is_some(), enabled), password).await;
    check(opened.is_ok(), "the login password does not open the vault");
    let mut values = node.values().await;
    values.sort();
    let expected = [("A", "value of A"), ("B", "value of B")];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
    check(values == expected, "a secret cannot be read");
    faults
}

/// Opens the vault, if there is one, like its owner.
async fn open(node: &Node, vault: (bool, bool), password: &str) -> Result<(), VaultError> {
    match vault {
        (false, _) => Ok(()),
        (true, true) => node.unlock(password).await.map(drop),
        (true, false) => {
            let enabled = node.secrets.enable(actor(), Some(secret(password))).await;
            enabled.map(drop)
        }
    }
}

// Nearly every transition starts from these states. They have two tests, because each takes a minute of key
// derivation.

#[tokio::test]
async fn every_pair_of_transitions_from_uninitialized() {
    assert_eq!(every_pair_from(Status::Uninitialized, &ALL).await, 5);
}

#[tokio::test]
async fn every_pair_of_transitions_from_disabled() {
    assert_eq!(every_pair_from(Status::Disabled, &ALL).await, 6);
}

#[tokio::test]
async fn every_pair_of_transitions_from_sealed() {
    assert_eq!(every_pair_from(Status::Sealed, &ALL[..6]).await, 1);
}

#[tokio::test]
async fn every_other_pair_of_transitions_from_sealed() {
    assert_eq!(every_pair_from(Status::Sealed, &ALL[6..]).await, 0);
}

#[tokio::test]
async fn every_pair_of_transitions_from_unsealed() {
    assert_eq!(every_pair_from(Status::Unsealed, &ALL[..6]).await, 2);
}

#[tokio::test]
async fn every_other_pair_of_transitions_from_unsealed() {
    assert_eq!(every_pair_from(Status::Unsealed, &ALL[6..]).await, 0);
}
