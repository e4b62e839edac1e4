//! Resolves a name and leaves only addresses that may be called. The client connects to what this
//! returns and asks nobody else, so there is no moment between check and use.

use crate::policy::Policy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::error::Error;
use std::net::{IpAddr, SocketAddr};

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
            let found = resolve(policy, name.as_str()).await?;
            // Port 0 means: the one of the URL.
            let addresses: Addrs = Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}

/// The addresses of a host that may be called; the error may be [`Refused`].
pub(crate) async fn resolve(
    policy: Policy,
    host: &str,
) -> Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>> {
    if !policy.allows_name(host) {
        return Err(Refused.into());
    }
    let found = tokio::net::lookup_host((host, 0)).await?;
    Ok(admit(policy, found.map(|to| to.ip()))?)
}

/// Keeps what may be called; a name that had only other addresses is refused.
fn admit(policy: Policy, found: impl Iterator<Item = IpAddr>) -> Result<Vec<IpAddr>, Refused> {
    let mut admitted: Vec<_> = found.filter(|address| policy.allows(*address)).collect();
    admitted.dedup();
    if admitted.is_empty() {
        return Err(Refused);
    }
    Ok(admitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
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
