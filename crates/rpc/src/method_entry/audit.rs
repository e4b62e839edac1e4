//! How a call of a method is recorded in the audit log.

/// The audit record of a successful call. It never contains values, only IDs, names, and the names of the sent members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audit {
    /// The method changes nothing.
    Reads,
    /// Nothing is recorded, because the method only changes conversations or queries a provider. The text is the
    /// reason.
    Unrecorded(&'static str),
    /// The crate that owns the data writes a row of this kind, in the transaction of the change.
    Transaction(&'static str),
    /// Dispatch writes the row after the call succeeded. The transactions of the call store its intent.
    Row {
        kind: &'static str,
        /// Members of the params that identify the subject.
        params: &'static [&'static str],
        /// Members of the result that identify the subject.
        result: &'static [&'static str],
        /// Whether the change is made outside the transactions that write the audit row, such as a message to a
        /// channel. An intent is then stored before the call.
        outside: bool,
    },
}

impl Audit {
    pub(crate) const fn row(
        kind: &'static str,
        params: &'static [&'static str],
        result: &'static [&'static str],
    ) -> Self {
        Self::Row {
            kind,
            params,
            result,
            outside: false,
        }
    }

    /// Marks the change as made outside the call's own transactions, such as a message to a channel.
    pub(crate) const fn outside(self) -> Self {
        match self {
            Self::Row {
                kind,
                params,
                result,
                ..
            } => Self::Row {
                kind,
                params,
                result,
                outside: true,
            },
            other => other,
        }
    }
}
