//! The profile of Stripe. Events: docs.stripe.com/api/events/types; delivery: docs.stripe.com/webhooks.

mod summary;
mod verification;

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    BodyEvent, Condition, EntityRule, EventSource, EventType, KeySource, Profile, Replay,
    ReplayGuard, event,
};

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[&verification::MODE],
};

static PROFILE: Profile = Profile {
    id: "payments",
    alias: Some("stripe"),
    name: "Payments (Stripe)",
    about: "Payments, invoices, subscriptions",
    default_auth_mode: AuthMode::of(&verification::MODE),
    body: BodyKind::Json,
    event: EventSource {
        notices: &[],
        own_header: false,
        headers: &[],
        body: &[BodyEvent {
            prefix: "",
            path: "type",
        }],
        names: None,
        detail_header: None,
        detail: &[],
    },
    delivery_key: &[KeySource::Body("id")],
    // The signature covers the timestamp and the body, which contains the id:
    // <https://docs.stripe.com/webhooks#verify-manually>
    replay: Replay {
        id_is_signed: true,
        guard: ReplayGuard::Key,
        note: "The signature covers the ID, which is in the body, and the time.",
    },
    entities: ENTITIES,
    events: EVENTS,
    more_events: MORE_EVENTS,
    headers: &[],
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: None,
    // Sent by "Ping" in Workbench: docs.stripe.com/api/v2/core/event-destinations/event-types
    test_events: &["v2.core.event_destination.ping"],
    replies: &[],
    summary: summary::SUMMARY,
    sample: include_str!("sample.json"),
};

/// A charge or subscription is either an ID or, if the sender expands it, the whole object.
const ENTITIES: &[EntityRule] = &[
    EntityRule {
        when: &[Condition::Is("data.object.object", "dispute")],
        key: "payments:dispute:{data.object.charge}",
    },
    EntityRule {
        when: &[Condition::Is("data.object.object", "dispute")],
        key: "payments:dispute:{data.object.charge.id}",
    },
    EntityRule {
        when: &[Condition::Event("charge.dispute")],
        key: "payments:dispute:{data.object.charge}",
    },
    EntityRule {
        when: &[Condition::Event("charge.dispute")],
        key: "payments:dispute:{data.object.charge.id}",
    },
    EntityRule {
        when: &[Condition::Is("data.object.object", "subscription")],
        key: "payments:{data.object.id}",
    },
    EntityRule {
        when: &[Condition::Event("customer.subscription")],
        key: "payments:{data.object.id}",
    },
    EntityRule {
        when: &[],
        key: "payments:{data.object.subscription}",
    },
    EntityRule {
        when: &[],
        key: "payments:{data.object.subscription.id}",
    },
    EntityRule {
        when: &[],
        key: "payments:{data.object.parent.subscription_details.subscription}",
    },
    EntityRule {
        when: &[],
        key: "payments:{data.object.parent.subscription_details.subscription.id}",
    },
];

const EVENTS: &[EventType] = &[
    event(
        "checkout.session.completed",
        "A customer finished a checkout",
    ),
    event("payment_intent.succeeded", "A payment succeeded"),
    event("payment_intent.payment_failed", "A payment failed"),
    event("invoice.paid", "An invoice was paid"),
    event("customer.subscription.created", "A customer subscribed"),
    event("customer.subscription.deleted", "A subscription ended"),
    event("charge.dispute.created", "A customer disputed a charge"),
];

const MORE_EVENTS: &[EventType] = &[
    event("charge.dispute.closed", "A dispute was decided"),
    event("charge.failed", "A charge failed"),
    event("charge.refunded", "A charge was refunded"),
    event("charge.succeeded", "A charge succeeded"),
    event(
        "checkout.session.expired",
        "A checkout was not finished in time",
    ),
    event("customer.created", "A customer was added"),
    event("customer.deleted", "A customer was removed"),
    event("customer.updated", "A customer's details changed"),
    event("customer.subscription.paused", "A subscription was paused"),
    event(
        "customer.subscription.resumed",
        "A subscription was resumed",
    ),
    event(
        "customer.subscription.trial_will_end",
        "A trial ends in three days",
    ),
    event("customer.subscription.updated", "A subscription changed"),
    event("invoice.created", "An invoice was created"),
    event("invoice.finalized", "An invoice is ready to be paid"),
    event("invoice.payment_failed", "Paying an invoice failed"),
    event("invoice.payment_succeeded", "Paying an invoice succeeded"),
    event("invoice.upcoming", "A subscription renews in a few days"),
    event("payment_intent.canceled", "A payment was canceled"),
    event("payment_intent.created", "A payment was started"),
    event(
        "payment_intent.requires_action",
        "A payment waits for its customer",
    ),
    event("payout.failed", "A payout failed"),
    event("payout.paid", "A payout arrived"),
    event(
        "radar.early_fraud_warning.created",
        "A card issuer warned of fraud",
    ),
];
