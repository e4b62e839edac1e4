//! The sentences and fields of each event.

use super::{amounts, lines, plans, times};
use crate::summary::field::Field;

pub(super) const SENTENCES: &[(&str, &str)] = &[
    ("", "The payments vendor reports: {type}."),
    (
        "checkout.session.completed",
        "{data.object.customer_details.name|data.object.customer_details.email|'A customer'} finished a checkout.",
    ),
    (
        "checkout.session.expired",
        "A checkout was not finished in time.",
    ),
    ("payment_intent.succeeded", "A payment succeeded."),
    ("payment_intent.payment_failed", "A payment failed."),
    ("payment_intent.canceled", "A payment was canceled."),
    (
        "invoice.paid",
        "The invoice {data.object.number|data.object.id} was paid.",
    ),
    (
        "invoice.payment_failed",
        "Paying the invoice {data.object.number|data.object.id} failed.",
    ),
    (
        "customer.subscription.created",
        "The customer {data.object.customer} subscribed.",
    ),
    (
        "customer.subscription.updated",
        "A subscription of the customer {data.object.customer} changed.",
    ),
    (
        "customer.subscription.deleted",
        "A subscription of the customer {data.object.customer} ended.",
    ),
    (
        "charge.dispute.created",
        "A customer disputed the charge {data.object.charge}.",
    ),
    (
        "charge.dispute.closed",
        "The dispute about the charge {data.object.charge} was decided: {data.object.status}.",
    ),
    (
        "charge.refunded",
        "The charge {data.object.id} was refunded.",
    ),
    ("charge.failed", "A charge failed."),
    ("charge.succeeded", "A charge succeeded."),
];

pub(super) const FIELDS: &[Field] = &[
    Field::text("Object", "{data.object.object} {data.object.id}"),
    Field::line("Number", &["data.object.number"]),
    Field::own(amounts),
    Field::line("Status", &["data.object.status"]),
    Field::line("Payment", &["data.object.payment_status"]),
    Field::line(
        "Reason",
        &["data.object.reason", "data.object.billing_reason"],
    ),
    Field::line(
        "Failure",
        &[
            "data.object.last_payment_error.message",
            "data.object.failure_message",
        ],
    ),
    Field::line(
        "Failure code",
        &[
            "data.object.last_payment_error.decline_code",
            "data.object.last_payment_error.code",
            "data.object.failure_code",
        ],
    ),
    Field::line(
        "Customer",
        &[
            "data.object.customer_name",
            "data.object.customer_details.name",
            "data.object.billing_details.name",
            "data.object.name",
        ],
    ),
    Field::line(
        "E-mail",
        &[
            "data.object.customer_email",
            "data.object.customer_details.email",
            "data.object.billing_details.email",
            "data.object.receipt_email",
            "data.object.email",
        ],
    ),
    Field::line(
        "Customer id",
        &["data.object.customer", "data.object.customer.id"],
    ),
    Field::line(
        "Subscription",
        &[
            "data.object.subscription",
            "data.object.subscription.id",
            "data.object.parent.subscription_details.subscription",
        ],
    ),
    Field::line(
        "Charge",
        &["data.object.charge", "data.object.latest_charge"],
    ),
    Field::own(plans),
    Field::own(lines),
    Field::own(times),
    Field::line(
        "Ends with its period",
        &["data.object.cancel_at_period_end"],
    ),
    Field::keys("Changed", "data.previous_attributes"),
    Field::line("Live", &["livemode"]),
    Field::line(
        "URL",
        &["data.object.hosted_invoice_url", "data.object.receipt_url"],
    ),
    Field::block("Description", &["data.object.description"]),
];
