//! Summaries of Stripe events. Fields: docs.stripe.com/api, by object. Amounts are in the currency's
//! smallest unit (docs.stripe.com/currencies).

mod texts;

use crate::payload::Node;
use crate::summary::field::{Section, Summary};
use crate::summary::report::{Report, at, first};
use texts::{FIELDS, SENTENCES};

/// Currencies without a subunit.
const WHOLE: [&str; 16] = [
    "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "ugx", "vnd", "vuv",
    "xaf", "xof", "xpf",
];
/// Currencies with 1000 subunits.
const THOUSANDTHS: [&str; 5] = ["bhd", "jod", "kwd", "omr", "tnd"];

pub(super) const SUMMARY: Summary = Summary {
    sentences: &[SENTENCES],
    titles: &[],
    sections: &[Section {
        of: &[],
        fields: FIELDS,
    }],
};

fn amounts(report: &mut Report, root: Node<'_>) {
    let Some(object) = root.at("data.object") else {
        return;
    };
    let currency = at(object, "currency").unwrap_or_default();
    for (label, paths) in [
        ("Amount", &["amount", "amount_total", "total"][..]),
        ("Paid", &["amount_paid"]),
        ("Still due", &["amount_remaining"]),
        ("Refunded", &["amount_refunded"]),
    ] {
        let amount = paths.iter().find_map(|path| object.at(path)?.as_i64());
        let shown = amount.filter(|amount| label == "Amount" || *amount != 0);
        report.line(label, shown.map(|amount| money(amount, &currency)));
    }
}

/// Shows the items of a subscription.
fn plans(report: &mut Report, root: Node<'_>) {
    let Some(items) = root.at("data.object.items.data") else {
        return;
    };
    let listed = items.items().map(|item| {
        let name = first(
            item,
            &["price.nickname", "price.id", "plan.nickname", "plan.id"],
        );
        let quantity = at(item, "quantity").unwrap_or_else(|| "1".to_owned());
        let price = ["price.unit_amount", "plan.amount"]
            .iter()
            .find_map(|path| item.at(path)?.as_i64());
        let currency = first(item, &["price.currency", "plan.currency"]).unwrap_or_default();
        let price = price.map(|price| format!(" at {}", money(price, &currency)));
        let every = first(item, &["price.recurring.interval", "plan.interval"]);
        let every = every.map(|interval| format!(" each {interval}"));
        format!(
            "{quantity} × {}{}{}",
            name.unwrap_or_default(),
            price.unwrap_or_default(),
            every.unwrap_or_default()
        )
    });
    report.words("Plan", listed);
}

/// Shows the line items of an invoice.
fn lines(report: &mut Report, root: Node<'_>) {
    let Some(lines) = root.at("data.object.lines.data") else {
        return;
    };
    let listed = lines.items().filter_map(|line| {
        let currency = at(line, "currency").unwrap_or_default();
        let amount = line.at("amount").and_then(Node::as_i64);
        let amount = amount.map(|amount| format!(": {}", money(amount, &currency)));
        let what = at(line, "description")?;
        Some(format!("{what}{}", amount.unwrap_or_default()))
    });
    report.items("For", listed, None);
}

/// Shows timestamps, which Stripe sends in seconds.
fn times(report: &mut Report, root: Node<'_>) {
    for (label, path) in [
        ("At", "created"),
        ("Answer until", "data.object.evidence_details.due_by"),
        ("Ended", "data.object.ended_at"),
        ("Trial ends", "data.object.trial_end"),
    ] {
        let seconds = root.at(path).and_then(Node::as_i64).filter(|at| *at > 0);
        let moment = seconds
            .and_then(|seconds| seconds.checked_mul(1000))
            .map(|millis| gatehouse_domain::Timestamp::from_millis(millis).to_string());
        report.line(label, moment);
    }
}

/// Formats an amount: `4900` and `eur` become `49.00 EUR`.
fn money(amount: i64, currency: &str) -> String {
    let digits = if WHOLE.contains(&currency) {
        0
    } else if THOUSANDTHS.contains(&currency) {
        3
    } else {
        2
    };
    let unit = 10_u64.pow(digits);
    let sign = if amount < 0 { "−" } else { "" };
    let (whole, part) = (amount.unsigned_abs() / unit, amount.unsigned_abs() % unit);
    let name = currency.to_uppercase();
    let text = match digits {
        0 => format!("{sign}{whole} {name}"),
        digits => {
            let width = usize::try_from(digits).unwrap_or(2);
            format!("{sign}{whole}.{part:0width$} {name}")
        }
    };
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests;
