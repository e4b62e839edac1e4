//! Samples of Stripe deliveries.

use serde_json::{Value, json};

use super::SampleInput;

pub(crate) fn body(input: &SampleInput<'_>) -> Value {
    let created = input.now_ms / 1000;
    json!({
        "id": format!("evt_{}", input.id),
        "object": "event",
        "api_version": "2026-03-25",
        "created": created,
        "data": { "object": object(input.event, created) },
        "livemode": false,
        "pending_webhooks": 1,
        "request": { "id": null, "idempotency_key": null },
        "type": input.event,
    })
}

fn object(event: &str, created: i64) -> Value {
    if event.starts_with("checkout.session") {
        checkout(created)
    } else if event.starts_with("payment_intent") {
        payment(event, created)
    } else if event.starts_with("invoice") {
        invoice(created)
    } else if event.starts_with("customer.subscription") {
        subscription(event, created)
    } else if event.starts_with("charge.dispute") {
        dispute(created)
    } else if event.starts_with("charge") {
        charge(created)
    } else {
        json!({ "id": "obj_1SampleObject", "object": event.split('.').next(), "created": created })
    }
}

fn checkout(created: i64) -> Value {
    json!({
        "id": "cs_test_1SampleSession",
        "object": "checkout.session",
        "amount_total": 4900,
        "created": created,
        "currency": "eur",
        "customer": "cus_SampleCustomer",
        "customer_details": { "email": "ada@example.com", "name": "Ada Example" },
        "mode": "subscription",
        "payment_status": "paid",
        "status": "complete",
        "subscription": "sub_1SampleSubscription",
    })
}

fn payment(event: &str, created: i64) -> Value {
    let failed = event.ends_with("payment_failed");
    let error = failed.then(|| {
        json!({
            "code": "card_declined",
            "decline_code": "insufficient_funds",
            "message": "Your card has insufficient funds.",
            "type": "card_error",
        })
    });
    json!({
        "id": "pi_3SamplePayment",
        "object": "payment_intent",
        "amount": 4900,
        "amount_received": if failed { 0 } else { 4900 },
        "created": created,
        "currency": "eur",
        "customer": "cus_SampleCustomer",
        "description": "Team plan",
        "last_payment_error": error,
        "latest_charge": "ch_3SampleCharge",
        "receipt_email": "ada@example.com",
        "status": if failed { "requires_payment_method" } else { "succeeded" },
    })
}

fn invoice(created: i64) -> Value {
    json!({
        "id": "in_1SampleInvoice",
        "object": "invoice",
        "amount_due": 4900,
        "amount_paid": 4900,
        "amount_remaining": 0,
        "billing_reason": "subscription_cycle",
        "created": created,
        "currency": "eur",
        "customer": "cus_SampleCustomer",
        "customer_email": "ada@example.com",
        "customer_name": "Ada Example",
        "hosted_invoice_url": "https://payments.example/invoice/in_1SampleInvoice",
        "lines": {
            "object": "list",
            "data": [{ "amount": 4900, "currency": "eur", "description": "1 × Team plan (monthly)" }],
        },
        "number": "A1B2C3D4-0007",
        "parent": {
            "subscription_details": { "subscription": "sub_1SampleSubscription" },
            "type": "subscription_details",
        },
        "status": "paid",
        "total": 4900,
    })
}

fn subscription(event: &str, created: i64) -> Value {
    let ended = event.ends_with("deleted");
    json!({
        "id": "sub_1SampleSubscription",
        "object": "subscription",
        "cancel_at_period_end": false,
        "canceled_at": ended.then_some(created),
        "created": created,
        "currency": "eur",
        "customer": "cus_SampleCustomer",
        "items": { "object": "list", "data": [{
            "id": "si_SampleItem",
            "price": {
                "id": "price_1SamplePrice",
                "currency": "eur",
                "nickname": "Team plan",
                "recurring": { "interval": "month", "interval_count": 1 },
                "unit_amount": 4900,
            },
            "quantity": 1,
        }]},
        "status": if ended { "canceled" } else { "active" },
    })
}

fn dispute(created: i64) -> Value {
    json!({
        "id": "du_1SampleDispute",
        "object": "dispute",
        "amount": 4900,
        "charge": "ch_3SampleCharge",
        "created": created,
        "currency": "eur",
        "evidence_details": { "due_by": created + 7 * 86_400, "has_evidence": false },
        "is_charge_refundable": true,
        "payment_intent": "pi_3SamplePayment",
        "reason": "product_not_received",
        "status": "needs_response",
    })
}

fn charge(created: i64) -> Value {
    json!({
        "id": "ch_3SampleCharge",
        "object": "charge",
        "amount": 4900,
        "amount_refunded": 0,
        "billing_details": { "email": "ada@example.com", "name": "Ada Example" },
        "created": created,
        "currency": "eur",
        "customer": "cus_SampleCustomer",
        "description": "Team plan",
        "paid": true,
        "refunded": false,
        "status": "succeeded",
    })
}
