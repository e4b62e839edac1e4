//! Takes the waiting items of a queue in groups of limited count and size.

use tokio::sync::mpsc;

/// The receiving end of a queue.
pub(super) struct Gather<T> {
    inbox: mpsc::Receiver<T>,
    /// An item that did not fit into the last group.
    held: Option<T>,
    bounds: Bounds,
    size: fn(&T) -> usize,
}

/// The limits of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) count: usize,
    /// Maximum size of a group. A larger item forms its own group.
    pub(super) bytes: usize,
}

impl<T> Gather<T> {
    pub(super) const fn new(
        inbox: mpsc::Receiver<T>,
        bounds: Bounds,
        size: fn(&T) -> usize,
    ) -> Self {
        Self {
            inbox,
            held: None,
            bounds,
            size,
        }
    }

    /// Waits for an item, and takes it with the items that wait behind it. Empty after the last sender was dropped.
    /// Dropping the future loses no item.
    pub(super) async fn next(&mut self) -> Vec<T> {
        let first = match self.held.take() {
            Some(held) => Some(held),
            None => self.inbox.recv().await,
        };
        let mut group: Vec<T> = first.into_iter().collect();
        let mut bytes: usize = group.iter().map(self.size).sum();
        while !group.is_empty() && group.len() < self.bounds.count {
            let Ok(next) = self.inbox.try_recv() else {
                break;
            };
            bytes = bytes.saturating_add((self.size)(&next));
            if bytes > self.bounds.bytes {
                self.held = Some(next);
                break;
            }
            group.push(next);
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::poll_immediate;

    /// Returns the sizes of the items of each group.
    async fn groups(items: &[usize], bounds: Bounds) -> Vec<Vec<usize>> {
        let (sender, inbox) = mpsc::channel(items.len().max(1));
        for item in items {
            sender.send(*item).await.unwrap();
        }
        drop(sender);
        let mut gather = Gather::new(inbox, bounds, |item| *item);
        let mut groups = Vec::new();
        loop {
            let group = gather.next().await;
            if group.is_empty() {
                return groups;
            }
            groups.push(group);
        }
    }

    #[tokio::test]
    async fn a_group_at_its_bounds_is_one_and_one_more_is_two() {
        let bounds = Bounds {
            count: 3,
            bytes: 10,
        };
        let cases: [(&[usize], &[&[usize]]); 7] = [
            (&[], &[]),
            (&[3, 3, 4], &[&[3, 3, 4]]),
            (&[3, 3, 5], &[&[3, 3], &[5]]),
            (&[1, 1, 1, 1], &[&[1, 1, 1], &[1]]),
            (&[10, 0, 1], &[&[10, 0], &[1]]),
            // An item larger than the limit is alone.
            (&[1, 11, 12, 1], &[&[1], &[11], &[12], &[1]]),
            (&[usize::MAX, usize::MAX], &[&[usize::MAX], &[usize::MAX]]),
        ];
        for (items, expected) in cases {
            assert_eq!(groups(items, bounds).await, expected, "{items:?}");
        }
    }

    #[tokio::test]
    async fn nothing_is_lost_if_a_future_is_dropped() {
        let (sender, inbox) = mpsc::channel(4);
        let bounds = Bounds {
            count: 4,
            bytes: 10,
        };
        let mut gather = Gather::new(inbox, bounds, |item: &usize| *item);
        assert!(poll_immediate(gather.next()).await.is_none());
        for item in [6, 7] {
            sender.send(item).await.unwrap();
        }
        assert_eq!(poll_immediate(gather.next()).await, Some(vec![6]));
        drop(gather.next());
        assert_eq!(poll_immediate(gather.next()).await, Some(vec![7]));
    }
}
