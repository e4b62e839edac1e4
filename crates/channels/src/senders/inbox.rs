//! `inbox`: stores the message in the gateway. Built in.

use super::{About, Part, Sender};
use crate::error::Failure;
use crate::inbox::{KIND, PreparedInbox};
use futures_util::future::BoxFuture;
use gatehouse_store::StoreError;

#[derive(Debug)]
pub(crate) struct Inbox;

static ABOUT: About = About {
    kind: KIND,
    label: "Inbox",
    description: "Messages stay in this gateway’s inbox.",
    noun: "the inbox",
    fields: &[],
    extra: &[],
    takes_json: false,
    built_in: true,
    calls_any_address: false,
};

impl Sender for Inbox {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let inner = part.inner;
            let message = inner.inbox_message(&part.account.id, part.message, part.text);
            let stored = message.clone();
            let write = inner.store.write(move |conn| {
                Box::pin(async move { PreparedInbox::insert_all(vec![stored], conn) })
            });
            let stored: Result<(), StoreError> = write.await;
            stored?;
            inner.announce(message);
            Ok(())
        })
    }
}
