//! The values of the label `model` in metrics. Callers can name any number of models, and each value is a time series.

use gatehouse_store::UsageRow;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The number of models with a label of their own. The models that are used first get one.
const MAX_LABELS: usize = 200;
/// The number of labels after which calls without an agent, such as those of `/v1/*`, add no more labels. The rest is
/// reserved for agents.
const MAX_LABELS_WITHOUT_AGENT: usize = 100;
/// The label of all other models. It cannot be a model's own label, because own labels contain a
/// slash.
const OTHER: &str = "other";

/// The models that have a label of their own.
#[derive(Debug, Default)]
pub(crate) struct ModelLabels(Mutex<HashSet<String>>);

impl ModelLabels {
    /// Returns the label for the model of a call.
    pub(crate) fn of(&self, row: &UsageRow) -> String {
        let mut labels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let max = if row.agent.is_empty() {
            MAX_LABELS_WITHOUT_AGENT
        } else {
            MAX_LABELS
        };
        if !labels.contains(&row.model) {
            if labels.len() >= max {
                return OTHER.to_owned();
            }
            labels.insert(row.model.clone());
        }
        row.model.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(agent: &str, number: usize) -> UsageRow {
        UsageRow {
            agent: agent.to_owned(),
            model: format!("p/{number}"),
            ..UsageRow::default()
        }
    }

    #[test]
    fn models_beyond_the_limit_share_a_label() {
        let labels = ModelLabels::default();
        for number in 0..MAX_LABELS {
            let row = row("a", number);
            assert_eq!(labels.of(&row), row.model);
        }
        assert_eq!(labels.of(&row("a", MAX_LABELS)), OTHER);
        for agent in ["a", ""] {
            assert_eq!(labels.of(&row(agent, 0)), "p/0", "its label stays");
        }
    }

    #[test]
    fn calls_without_an_agent_add_no_label_after_agents_took_as_many() {
        let labels = ModelLabels::default();
        for number in 1..MAX_LABELS_WITHOUT_AGENT {
            labels.of(&row("a", number));
        }
        let (last, next) = (MAX_LABELS_WITHOUT_AGENT, MAX_LABELS_WITHOUT_AGENT + 1);
        assert_eq!(labels.of(&row("", last)), format!("p/{last}"));
        assert_eq!(labels.of(&row("", next)), OTHER);
    }

    #[test]
    fn calls_without_an_agent_leave_labels_for_agents() {
        let labels = ModelLabels::default();
        for number in 0..MAX_LABELS_WITHOUT_AGENT {
            let row = row("", number);
            assert_eq!(labels.of(&row), row.model);
        }
        let next = MAX_LABELS_WITHOUT_AGENT;
        assert_eq!(labels.of(&row("", next)), OTHER);
        assert_eq!(labels.of(&row("a", next)), format!("p/{next}"));
        assert_eq!(labels.of(&row("", next)), format!("p/{next}"));
    }
}
