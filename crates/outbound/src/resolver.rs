//! Resolves a name and leaves only addresses that may be called. The client connects to what this
//! returns and asks nobody else, so there is no moment between check and use.

use crate::policy::Policy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::SocketAddr;

/// Every address of the name is one that must not be called.
#[derive(Debug, thiserror::Error)]
#[error("this name leads to no address that may be called")]
pub(crate) struct Refused;

/// The system's resolver behind a policy.
#[derive(Debug)]
pub(crate) struct FilteringResolver {
    pub(crate) policy: Policy,
}

impl Resolve for FilteringResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.policy;
        Box::pin(async move {
            if !policy.allows_name(name.as_str()) {
                return Err(Refused.into());
            }
            // Port 0 means: the one of the URL.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let admitted: Addrs = Box::new(admit(policy, found)?.into_iter());
            Ok(admitted)
        })
    }
}

/// Keeps what may be called; a name that had only other addresses is refused.
fn admit(
    policy: Policy,
    found: impl Iterator<Item = SocketAddr>,
) -> Result<Vec<SocketAddr>, Refused> {
    let admitted: Vec<_> = found.filter(|to| policy.allows(to.ip())).collect();
    if admitted.is_empty() {
        return Err(Refused);
    }
    Ok(admitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts
            .iter()
            .map(|text| SocketAddr::new(text.parse().unwrap(), 0))
            .collect()
    }

    #[test]
    fn only_what_may_be_called_is_left() {
        let mixed = addresses(&["10.0.0.1", "8.8.8.8", "169.254.169.254", "::1"]);
        let left = |policy| admit(policy, mixed.clone().into_iter()).unwrap();
        assert_eq!(left(Policy::PublicOnly), addresses(&["8.8.8.8"]));
        assert_eq!(
            left(Policy::NoMetadata),
            addresses(&["10.0.0.1", "8.8.8.8", "::1"])
        );
    }

    #[test]
    fn a_name_with_nothing_left_is_refused() {
        for texts in [&["169.254.169.254", "fd00:ec2::254"][..], &[]] {
            assert!(admit(Policy::NoMetadata, addresses(texts).into_iter()).is_err());
        }
    }
}
