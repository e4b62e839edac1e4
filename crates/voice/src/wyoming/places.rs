//! Limits the number of connected clients.

use gatehouse_domain::ClientKey;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of connections at a time.
const CONNECTIONS: usize = 32;
/// The maximum number of connections of one client: half of all. One Home Assistant instance connects for all of its
/// satellites.
const OF_ONE_CLIENT: usize = CONNECTIONS / 2;

/// The connections of each client.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionSlots(Arc<Mutex<HashMap<ClientKey, usize>>>);

/// A connection. It counts toward the client's limit until it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    places: ConnectionSlots,
    client: ClientKey,
}

/// Why there is no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Full {
    #[error("too many connections")]
    All,
    #[error("too many connections of this client")]
    OfClient,
}

impl ConnectionSlots {
    /// Takes a slot for a connection. The addresses of an IPv6 network (/64) are one client.
    pub(super) fn take(&self, client: IpAddr) -> Result<ConnectionSlot, Full> {
        let client = ClientKey::of(client);
        let mut taken = self.lock();
        if taken.values().sum::<usize>() >= CONNECTIONS {
            return Err(Full::All);
        }
        let of_client = taken.entry(client).or_default();
        if *of_client >= OF_ONE_CLIENT {
            return Err(Full::OfClient);
        }
        *of_client += 1;
        drop(taken);
        Ok(ConnectionSlot {
            places: self.clone(),
            client,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClientKey, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        if let Some(of_client) = taken.get_mut(&self.client) {
            *of_client = of_client.saturating_sub(1);
            if *of_client == 0 {
                taken.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(places: &ConnectionSlots, ip: &str) -> Result<ConnectionSlot, Full> {
        places.take(ip.parse().unwrap())
    }

    #[test]
    fn one_client_may_hold_half_and_not_one_more() {
        let places = ConnectionSlots::default();
        let mut held: Vec<_> = (0..16)
            .map(|_| take(&places, "192.168.1.7").unwrap())
            .collect();
        for same in ["192.168.1.7", "::ffff:192.168.1.7"] {
            assert_eq!(take(&places, same).unwrap_err(), Full::OfClient);
        }
        let other = take(&places, "192.168.1.8").unwrap();
        drop(held.pop());
        held.push(take(&places, "192.168.1.7").unwrap());
        assert_eq!(take(&places, "192.168.1.7").unwrap_err(), Full::OfClient);
        drop((held, other));
        assert!(places.lock().is_empty());
    }

    #[test]
    fn the_addresses_of_an_ipv6_network_are_one_client() {
        let places = ConnectionSlots::default();
        let _held: Vec<_> = (0..16)
            .map(|host| take(&places, &format!("fd00::{host:x}")).unwrap())
            .collect();
        assert_eq!(take(&places, "fd00::ffff").unwrap_err(), Full::OfClient);
        assert!(take(&places, "fd00:0:0:1::1").is_ok());
    }

    #[test]
    fn all_clients_together_may_hold_32() {
        let places = ConnectionSlots::default();
        let mut held: Vec<_> = (0..32)
            .map(|host| take(&places, &format!("192.168.1.{host}")).unwrap())
            .collect();
        assert_eq!(take(&places, "192.168.1.99").unwrap_err(), Full::All);
        drop(held.pop());
        assert!(take(&places, "192.168.1.99").is_ok());
    }
}
