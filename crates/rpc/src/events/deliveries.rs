//! Events for changes of deliveries. The first changes of a time window are published immediately. Further
//! changes are collected, and only the last state of each delivery is published at the end of the window.
//! Beyond a limit, a single event reports that deliveries changed.

use super::{EventBus, Records, kinds};
use gatehouse_domain::DeliveryId;
use gatehouse_webhooks::DeliveryChange;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout_at};

/// Length of a window.
const WINDOW: Duration = Duration::from_millis(250);
/// Changes per window that are published immediately.
const AT_ONCE: usize = 16;
/// Further deliveries published at the end of a window. A socket's queue has room for several windows.
const GATHERED: usize = 200;

/// Publishes changes until the sender is dropped.
pub(super) async fn follow(bus: EventBus, mut deliveries: Receiver<Arc<DeliveryChange>>) {
    let mut window = Window::default();
    let mut end = None;
    loop {
        let heard = match end {
            None => Some(deliveries.recv().await),
            // Continuous changes must not extend the window.
            Some(end) if Instant::now() >= end => None,
            Some(end) => timeout_at(end, deliveries.recv()).await.ok(),
        };
        match heard {
            Some(Ok(delivery)) => {
                end.get_or_insert_with(|| Instant::now() + WINDOW);
                if let Some(delivery) = window.receive(delivery) {
                    publish(&bus, &delivery);
                }
            }
            Some(Err(RecvError::Lagged(_))) => {
                end.get_or_insert_with(|| Instant::now() + WINDOW);
                window.has_missed = true;
            }
            Some(Err(RecvError::Closed)) => return std::mem::take(&mut window).end(&bus),
            None => {
                std::mem::take(&mut window).end(&bus);
                end = None;
            }
        }
    }
}

fn publish(bus: &EventBus, change: &DeliveryChange) {
    bus.publish_kind(&kinds::WEBHOOKS_DELIVERY, change);
}

/// The changes of one window.
#[derive(Default)]
struct Window {
    reported: usize,
    /// The deliveries that wait, in the order of their first change.
    waiting: Vec<Arc<DeliveryChange>>,
    places: HashMap<DeliveryId, usize>,
    /// Whether changes of some deliveries are not published individually.
    has_missed: bool,
}

impl Window {
    /// Returns the delivery if it must be published immediately.
    fn receive(&mut self, delivery: Arc<DeliveryChange>) -> Option<Arc<DeliveryChange>> {
        let place = self.places.get(&delivery.id);
        if let Some(waiting) = place.and_then(|place| self.waiting.get_mut(*place)) {
            *waiting = delivery;
        } else if self.reported < AT_ONCE {
            self.reported += 1;
            return Some(delivery);
        } else if self.waiting.len() < GATHERED {
            self.places.insert(delivery.id.clone(), self.waiting.len());
            self.waiting.push(delivery);
        } else {
            self.has_missed = true;
        }
        None
    }

    /// Publishes the collected changes.
    fn end(self, bus: &EventBus) {
        self.waiting
            .iter()
            .for_each(|delivery| publish(bus, delivery));
        if self.has_missed {
            bus.publish_records(Records::Deliveries);
        }
    }
}

#[cfg(test)]
mod tests;
