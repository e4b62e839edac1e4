//! Samples of Linear deliveries.

use serde_json::{Value, json};

use super::{SampleInput, action, family, time};

const ISSUE: &str = "2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9";
const PROJECT: &str = "8d3f2a10-6a7b-4a53-9d55-3b1f6f3c2e11";

pub(crate) fn tracker_a(input: &SampleInput<'_>) -> Value {
    let at = time(input.now_ms);
    let family = family(input.event);
    let data = match family {
        "Comment" => json!({
            "id": "4f1c1e9a-52c7-4d2a-8a5e-0d3b6a7c8d9e",
            "body": "I can see it too, with every third cart.",
            "issueId": ISSUE,
            "issue": { "id": ISSUE, "identifier": "SHOP-7", "title": "Totals are off by a cent" },
            "user": { "name": "Ada Example" },
            "createdAt": at,
        }),
        "IssueLabel" => json!({ "id": "7a0c", "name": "Bug", "color": "#eb5757" }),
        "Attachment" => json!({
            "id": "9b1d",
            "title": "Cart that is off",
            "url": "https://files.example/cart.json",
            "issueId": ISSUE,
        }),
        "Reaction" => json!({
            "id": "1c2e",
            "emoji": "eyes",
            "issueId": ISSUE,
            "user": { "name": "Ada Example" },
        }),
        "ProjectUpdate" => json!({
            "id": "3d4f",
            "body": "Half of the carts are exact now.",
            "health": "onTrack",
            "projectId": PROJECT,
            "project": { "id": PROJECT, "name": "Exact prices" },
        }),
        "Cycle" => json!({ "id": "5e6a", "number": 12, "name": "Cycle 12", "startsAt": at }),
        "Document" => {
            json!({ "id": "6f7b", "title": "How prices are rounded", "projectId": PROJECT })
        }
        "Initiative" => json!({ "id": "7a8c", "name": "Trust in totals" }),
        "Project" => json!({
            "id": PROJECT,
            "name": "Exact prices",
            "description": "No total is off any more.",
            "createdAt": at,
        }),
        _ => json!({
            "id": ISSUE,
            "identifier": "SHOP-7",
            "number": 7,
            "title": "Totals are off by a cent",
            "description": "With three items at 0.333 the total is 0.99 instead of 1.00.",
            "priority": 2,
            "priorityLabel": "High",
            "state": { "name": "Todo", "type": "unstarted" },
            "team": { "key": "SHOP", "name": "Shop" },
            "assignee": { "name": "Grace Example" },
            "labels": [{ "name": "Bug" }],
            "createdAt": at,
            "updatedAt": at,
        }),
    };
    let mut body = json!({
        "action": action(input.event).unwrap_or("create"),
        "type": family,
        "actor": { "id": "b5ea8bc9", "type": "user", "name": "Ada Example" },
        "createdAt": at,
        if family == "IssueSLA" { "issueData" } else { "data" }: data,
        "url": "https://tracker.example/acme/issue/SHOP-7",
        "organizationId": "acme",
        "webhookTimestamp": input.now_ms,
        "webhookId": input.id,
    });
    if let Some(body) = body.as_object_mut()
        && action(input.event) == Some("update")
    {
        body.insert("updatedFrom".to_owned(), json!({ "updatedAt": at }));
    }
    body
}
