//! `inbox`: the message stays here. Built in.

use super::{About, Part, Sender};
use crate::error::Failure;
use crate::inbox::{InboxMessage, KEPT};
use futures_util::future::BoxFuture;
use gatehouse_domain::id::InboxMessageId;
use gatehouse_store::{InboxMessageRow, StoreError};

#[derive(Debug)]
pub(crate) struct Inbox;

static ABOUT: About = About {
    kind: "inbox",
    label: "Inbox",
    noun: "the inbox",
    fields: &[],
    extra: &[],
    built_in: true,
    calls_any_address: false,
};

impl Sender for Inbox {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let (inner, of) = (part.inner, part.message.delivery);
            let row = InboxMessageRow {
                seq: 0,
                id: InboxMessageId::generate(&*inner.clock, &*inner.random),
                channel: part.account.id.clone(),
                // PostgreSQL takes any character but this one.
                text: part.text.replace('\0', "\u{fffd}"),
                source: part.message.source.replace('\0', "\u{fffd}"),
                at: part.message.at,
                read: false,
                webhook_id: of.map(|of| of.webhook_id.clone()),
                delivery_id: of.map(|of| of.delivery_id.clone()),
            };
            let message = InboxMessage::from(row.clone());
            let write = inner.store.write(move |conn| {
                Box::pin(async move { conn.insert_inbox_message(&row, KEPT).await })
            });
            let stored: Result<(), StoreError> = write.await;
            stored?;
            // Nobody listening is fine.
            let _heard = inner.inbox.send(message);
            Ok(())
        })
    }
}
