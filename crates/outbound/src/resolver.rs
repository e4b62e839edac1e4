//! Resolves a name and keeps only permitted addresses. The client connects to exactly these addresses and
//! does not resolve again, so the answer cannot change between check and use.

use crate::policy::Policy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::error::Error;
use std::net::{IpAddr, SocketAddr};

/// The name has no permitted address.
#[derive(Debug, thiserror::Error)]
#[error("this name has no address that may be called")]
pub(crate) struct Refused;

/// The system resolver with a policy applied.
#[derive(Debug)]
pub(crate) struct FilteringResolver {
    pub(crate) policy: Policy,
}

impl Resolve for FilteringResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.policy;
        Box::pin(async move {
            let found = resolve(policy, name.as_str()).await?;
            // With port 0, the client uses the port of the URL.
            let addresses: Addrs = Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}

/// Resolves a host to its permitted addresses. The error may be [`Refused`].
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

/// Returns the permitted addresses. Fails if none is permitted.
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
