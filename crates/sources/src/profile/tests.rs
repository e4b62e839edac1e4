//! Invariants of every profile, so that adding a profile requires only data.

use super::*;
use crate::event::carries_credential;
use crate::verify::scheme::Method;

fn headers_of(profile: &Profile) -> Vec<&'static str> {
    let keys = profile.delivery_key.iter().filter_map(|key| match key {
        KeySource::Header(name) | KeySource::EventAndHeader(name) => Some(*name),
        KeySource::Body(_) | KeySource::BodyHash => None,
    });
    let event = profile.event.headers.iter().copied();
    let notices = profile.event.notices.iter();
    event
        .chain(notices.filter_map(|notice| notice.when.header()))
        .chain(profile.event.detail_header)
        .chain(keys)
        .collect()
}

#[test]
fn ids_and_aliases_find_one_profile_each() {
    let mut names = Vec::new();
    for profile in all() {
        names.push(profile.id);
        names.extend(profile.alias);
        assert_eq!(find(profile.id).unwrap().id, profile.id);
        assert_eq!(
            find(profile.alias.unwrap_or(profile.id)).unwrap().id,
            profile.id
        );
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "no name is used twice");
    assert!(find("Github").is_none() && find("").is_none());
}

#[test]
fn what_is_read_may_be_kept_and_carries_no_credential() {
    for profile in all() {
        assert_eq!(profile.headers, headers_of(profile), "{profile}");
        for header in profile.headers {
            assert_eq!(*header, header.to_ascii_lowercase(), "{profile}");
            let named_token = [
                "i-twilio-idempotency-token",
                "idempotency-key",
                "x-event-key",
            ]
            .contains(header);
            assert!(
                named_token || !carries_credential(header),
                "{profile}: {header}"
            );
        }
    }
}

#[test]
fn catalogs_are_those_specified() {
    let specified = |id: &str| -> Vec<&str> {
        find(id)
            .unwrap()
            .events
            .iter()
            .map(|event| event.name)
            .collect()
    };
    assert_eq!(
        specified("codehost_a"),
        [
            "pull_request.opened",
            "pull_request.synchronize",
            "pull_request.closed",
            "push",
            "issues.opened",
            "issue_comment.created",
            "pull_request_review.submitted",
            "release.published",
            "workflow_run.completed",
        ]
    );
    assert_eq!(
        specified("codehost_b"),
        [
            "merge_request.open",
            "merge_request.update",
            "merge_request.merge",
            "push",
            "note",
            "issue.open",
            "pipeline",
        ]
    );
    assert_eq!(
        specified("payments"),
        [
            "checkout.session.completed",
            "payment_intent.succeeded",
            "payment_intent.payment_failed",
            "invoice.paid",
            "customer.subscription.created",
            "customer.subscription.deleted",
            "charge.dispute.created",
        ]
    );
    assert!(specified("generic").is_empty());
}

#[test]
fn catalogs_have_each_name_once_and_say_what_it_means() {
    for profile in all() {
        let mut names: Vec<&str> = profile.catalog().map(|event| event.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{profile}");
        for event in profile.catalog() {
            assert!(event.description.len() > 9, "{profile}: {}", event.name);
            assert!(
                !event.description.ends_with('.'),
                "{profile}: {}",
                event.name
            );
        }
    }
}

#[test]
fn guides_say_where_to_paste_what() {
    let senders = all().iter().filter(|profile| profile.id != SCHEDULE);
    for profile in senders {
        assert!(profile.guide.contains("{url}"), "{profile}");
        assert!(profile.guide.starts_with("1. "), "{profile}");
        let ours = profile.guide.contains("{secret}");
        let theirs = profile.guide.contains("in this webhook")
            || profile.guide.contains("this webhook's secret");
        assert!(ours || theirs, "{profile}: what about the secret?");
    }
}

#[test]
fn the_bytes_are_proposed_where_a_signature_leaves_the_id_out() {
    for profile in all() {
        // The signature must cover an ID in the body or in a header.
        let method = profile.default_auth_mode.method();
        let signed_headers = match method {
            Method::Signature(scheme) => scheme.id_headers,
            _ => &[],
        };
        let keys = profile.delivery_key;
        let is_signed = |source: &KeySource| match source {
            KeySource::Body(_) => true,
            KeySource::Header(name) | KeySource::EventAndHeader(name) => {
                signed_headers.contains(name)
            }
            KeySource::BodyHash => false,
        };
        let is_signed = !keys.is_empty() && keys.iter().all(is_signed);
        assert_eq!(profile.replay.id_is_signed, is_signed, "{profile}");
        assert!(profile.replay.note.ends_with('.'), "{profile}");
        // If requests contain the secret itself, an attacker who captures a request can send any delivery, so no
        // guard helps. The generic profile is excluded because it supports every mode.
        let sends_secret = profile.id != generic().id
            && matches!(
                method,
                Method::Token(_) | Method::Bearer | Method::OwnHeader
            );
        let by_bytes = profile.replay.guard == ReplayGuard::Bytes;
        assert_eq!(by_bytes, !is_signed && !sends_secret, "{profile}");
    }
}

#[test]
fn families_end_at_a_dot() {
    assert!(in_family("issue", "issue"));
    assert!(in_family("issue.open", "issue"));
    assert!(!in_family("issues.open", "issue"));
    assert!(!in_family("issue", "issue.open"));
}
