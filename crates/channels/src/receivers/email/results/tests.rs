//! Tests of the parent module. The fields follow the examples of RFC 8601, appendix B, and those of Gmail, rspamd,
//! `OpenDMARC` and Yahoo.

use super::*;

const ID: &str = "mx.example.org";

fn says(fields: &[&str]) -> bool {
    says_of(fields, "example.com")
}

fn says_of(fields: &[&str], domain: &str) -> bool {
    let fields = fields
        .iter()
        .map(|value| format!("Authentication-Results: {value}\r\n"));
    let text = fields.collect::<String>() + "\r\n";
    let header = Header::read(text.as_bytes()).unwrap();
    is_authenticated(&header, ID, domain)
}

#[test]
fn dmarc_or_an_aligned_signature_is_believed() {
    for field in [
        "mx.example.org; dmarc=pass header.from=example.com",
        "MX.example.org 1; dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=Example.COM",
        "\"mx.example.org\"; spf=fail smtp.mailfrom=a@b.example; dmarc=pass header.from=\"example.com\"",
        "mx.example.org; dmarc=pass(p=REJECT) header.from=example.com",
        "mx.example.org;\r\n\tdkim=pass header.d=example.com header.s=s1 header.b=Zm9v",
        "mx.example.org; dkim=fail header.d=example.com; dkim=pass header.d=example.com",
        "mx.example.org; dmarc=none header.from=example.com; dkim=pass header.d=example.com",
        "mx.example.org; arc=none (no signatures); dkim=pass header.d=example.com header.i=a@b.example.com x-bits=2048",
        "mx.example.org; dkim/1 = pass (good; =) reason=\"a;b=c\" header.d=example.com; ",
        "mx.example.org; auth=pass smtp.auth=\"a b\"@example.com; dmarc=pass header.from=example.com",
        "mx.example.org; dkim=pass header.i=@example.com header.s=mail header.b=\"R/ATP5Q2\";\r\n spf=pass \
         (google.com: domain of a@example.com designates 192.0.2.1 as permitted sender) \
         smtp.mailfrom=a@example.com;\r\n dmarc=pass (p=NONE sp=NONE dis=NONE) header.from=example.com",
    ] {
        assert!(says(&[field]), "{field}");
    }
}

#[test]
fn anything_else_is_not_believed() {
    for field in [
        "",
        "mx.example.org; none",
        "mx.example.org; spf=pass smtp.mailfrom=example.com",
        "mx.example.org; dmarc=fail header.from=example.com; dkim=pass header.d=example.com",
        "mx.example.org; dmarc=temperror; dkim=pass header.d=example.com",
        "mx.example.org; dmarc=pass header.from=evil.example",
        // The result does not name a domain.
        "mx.example.org; dmarc=pass",
        "mx.example.org; dmarc=pass (p=none)",
        "mx.example.org; dmarc=pass; dkim=pass header.d=example.com",
        "mx.example.org; dmarc=pass header.from=com",
        "mx.example.org; dmarc=pass header.from=mail.example.com",
        "mx.example.org; dmarc=pass header.from=@example.com",
        "mx.example.org; dmarc=pass header.from=example.com header.from=evil.example",
        "mx.example.org; dkim=pass header.d=evil.example",
        "mx.example.org; dkim=pass header.i=@example.com",
        "mx.example.org; dkim=pass header.d=com",
        "mx.example.org; dkim=pass header.d=xample.com",
        "mx.example.org; dkim=pass header.d=sub.example.com",
        "mx.example.org; dkim=pass header.d=example.com header.d=evil.example",
        "mx.example.org; dkim=neutral header.d=example.com",
        "mx.example.org (; dmarc=pass)",
        "mx.example.org; spf=pass smtp.mailfrom=\"a; dmarc=pass\"@evil.example",
        // A server that does not quote a value from the sender lets the sender add a result.
        "mx.example.org; spf=pass smtp.mailfrom=a; dmarc=pass ; x@evil.example; dmarc=fail",
        "mx.example.org; dmarc=pass; dmarc=fail header.from=example.com",
        "mx.example.org; dmarc=pass header.from=example.com x",
        "mx.example.org; dmarc=pass header.from=example.com =x",
        "mx.example.org; =pass",
        "mx.example.org 2; dmarc=pass header.from=example.com",
        "mx.example.org.evil.example; dmarc=pass header.from=example.com",
        "evil.example mx.example.org; dmarc=pass header.from=example.com",
        "dmarc=pass header.from=example.com",
        "mx.example.org; dmarc=pass (",
        "mx.example.org; dmarc=pass \"",
    ] {
        assert!(!says(&[field]), "{field}");
    }
}

#[test]
fn words_of_the_sender_are_no_results() {
    // These headers come from servers that do not quote the sender's words. The local part of an envelope sender can
    // contain semicolons and parentheses. So can the tags of a signature that does not pass.
    for words in [
        "spf=pass smtp.mailfrom=a; dkim=pass header.d=example.com; x=y smtp.mailfrom=@evil.example",
        "spf=pass smtp.mailfrom=a; dkim=pass header.d=example.com header.i=@evil.example",
        "spf=pass smtp.mailfrom=a dkim=pass header.d=example.com",
        "spf=pass smtp.mailfrom=a dmarc=pass header.from=example.com",
        "spf=pass smtp.helo=a; dkim=pass header.d=example.com",
        "iprev=pass policy.iprev=192.0.2.1 (a); dkim=pass header.d=example.com",
        "spf=pass (of \"\\\"a) ; dkim=pass header.d=example.com; x=y (b\\\"@evil.example\") smtp.mailfrom=b",
        "spf=pass (of \"\\\"a) ; dmarc=pass header.from=example.com (b\\\"@evil.example\") smtp.mailfrom=b",
        "dkim=fail header.d=evil.example dkim=pass header.d=example.com",
        "dkim=fail header.s=a dkim/1=pass header.d=example.com",
        "dkim=pass header.d=example.com header.i=a@evil.example",
        "dkim=pass header.d=example.com smtp.mailfrom=@evil.example",
        "dkim=pass header.d=example.com(.evil.example header.s=x)",
        "dkim=pass header.d=example.com(x).evil.example",
        "dkim=pass header.d=example.com .evil.example",
        "dmarc=pass header.from=example.com(.evil.example)",
        "dkim=pass header.d=evil.example header.s=(; dmarc=fail; spf=pass smtp.mailfrom=x); \
         dmarc=pass header.from=example.com",
    ] {
        assert!(!says(&[&format!("mx.example.org; {words}")]), "{words}");
    }
}

#[test]
fn only_the_topmost_field_of_the_server_counts() {
    let (good, bad) = (
        "mx.example.org; dmarc=pass header.from=example.com",
        "mx.example.org; dmarc=fail header.from=example.com",
    );
    let other = "relay.example.net; dmarc=fail header.from=example.com";
    assert!(says(&[good, bad]) && says(&[other, good]) && says(&[other, good, bad]));
    assert!(!says(&[bad, good]), "the second one is the sender's");
    assert!(!says(&["mx.example.org; none", good]));
    assert!(!says(&[other]) && !says(&[]));
    assert!(
        !says(&["mx.example.org; dmarc=pass header.from=example.com (", good]),
        "unreadable"
    );
}

#[test]
fn a_signature_counts_for_names_below_the_signer() {
    let signed = |signer: &str| format!("mx.example.org; dkim=pass header.d={signer}");
    let of = |signer: &str, domain: &str| says_of(&[&signed(signer)], domain);
    assert!(of("example.com", "mail.example.com") && of("b.example.com", "a.b.example.com"));
    // If these counted as aligned, the owner of a name below `github.io` could write as anyone
    // there.
    assert!(!of("evil.github.io", "github.io"));
    assert!(!of("com", "example.com") && !of("ample.com", "example.com"));
}
