//! Audit rows for calls whose own crate writes none. The method table defines the row, which is written after the call
//! has succeeded. The call's own transactions store its intent, so the row is not lost if the process ends before that.
//! If a change is made outside these transactions, the intent is stored before the call.

use crate::envelope::Outcome;
use crate::method_entry::{Audit, Call, Method};
use gatehouse_auth::Auth;
use gatehouse_auth::audit::Concluded;
use gatehouse_domain::ErrorCode;
use gatehouse_services::to_problem;
use gatehouse_store::{AuditIntent, intending};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// A row to write if the call succeeds.
pub(crate) struct Note {
    auth: Auth,
    intent: AuditIntent,
    result: &'static [&'static str],
    outside: bool,
}

impl Note {
    /// Collects the facts available before the call: the actor, the named params, and the names of other params.
    pub(crate) fn of(method: &Method, call: &Call, params: Option<&RawValue>) -> Option<Self> {
        let Audit::Row {
            kind,
            params: named,
            result,
            outside,
        } = method.audit
        else {
            return None;
        };
        let sent: Map<String, Value> = params
            .and_then(|params| serde_json::from_str(params.get()).ok())
            .unwrap_or_default();
        let mut detail = picked(&sent, named);
        let others: Vec<&String> = sent
            .keys()
            .filter(|name| !named.contains(&name.as_str()))
            .collect();
        if !others.is_empty() {
            detail.insert("sent".to_owned(), json!(others));
        }
        Some(Self {
            auth: call.services.auth.clone(),
            intent: call.services.auth.intend(kind, &call.actor(), detail),
            result,
            outside,
        })
    }

    /// Runs the call and writes the row, with the named members of the result. After an error, the row is written if
    /// the call committed something, or may have changed something elsewhere. A refused call has no row.
    pub(crate) async fn over(self, work: impl Future<Output = Outcome>) -> Outcome {
        if self.outside {
            let begun = self.auth.begin_change(&self.intent).await;
            begun.map_err(to_problem)?;
        }
        let outcome = intending(self.intent.clone(), work).await;
        let ended = match &outcome {
            Ok(result) => Concluded::Done(self.made(result)),
            Err(problem) if self.outside && !may_have_changed(problem.code) => Concluded::Withdrawn,
            Err(problem) => Concluded::Failed(problem.code.name()),
        };
        self.auth.conclude(self.intent, ended).await;
        outcome
    }

    fn made(&self, result: &RawValue) -> Map<String, Value> {
        let mut more = Map::new();
        if !self.result.is_empty()
            && let Ok(made) = serde_json::from_str::<Map<String, Value>>(result.get())
        {
            more.insert("made".to_owned(), picked(&made, self.result).into());
        }
        more
    }
}

/// Returns whether a call that ended with this error may have changed something outside its own transactions.
const fn may_have_changed(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ProviderFailed
            | ErrorCode::Timeout
            | ErrorCode::Internal
            | ErrorCode::StorageUnavailable
    )
}

/// Returns the named members that exist.
fn picked(from: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let found = names.iter().filter_map(|name| from.get_key_value(*name));
    found
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
