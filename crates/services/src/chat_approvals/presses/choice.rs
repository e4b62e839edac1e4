//! The choices that buttons offer.

use gatehouse_agents::Remember;

/// The decision of a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Choice {
    Allow,
    Deny,
    Session,
    Arguments,
}

impl Choice {
    pub(super) const ALL: [Self; 4] = [Self::Allow, Self::Deny, Self::Session, Self::Arguments];

    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Allow => "Allow",
            Self::Deny => "Deny",
            Self::Session => "Always in this session",
            Self::Arguments => "Always with these arguments",
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Session => "session",
            Self::Arguments => "arguments",
        }
    }

    pub(super) const fn remember(self) -> Option<Remember> {
        match self {
            Self::Allow | Self::Deny => None,
            Self::Session => Some(Remember::Session),
            Self::Arguments => Some(Remember::Arguments),
        }
    }

    /// Returns the data that a press reports.
    pub(super) fn data(self, token: &str) -> String {
        format!("{token}:{}", self.word())
    }

    /// Parses the output of [`Self::data`].
    pub(super) fn read(data: &str) -> Option<(&str, Self)> {
        let (token, word) = data.split_once(':')?;
        let choice = Self::ALL.into_iter().find(|choice| choice.word() == word)?;
        Some((token, choice))
    }
}
