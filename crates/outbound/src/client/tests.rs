//! Tests of the parent module.

use super::*;

fn verdict(policy: Policy, text: &str) -> Result<(), OutboundError> {
    check_url(policy, &Url::parse(text).unwrap())
}

#[test]
fn a_url_is_http_has_no_user_and_no_refused_host() {
    for url in [
        "http://example.com/x?y",
        "https://8.8.8.8:8443/",
        "https://[2606:4700::1111]/",
    ] {
        assert_eq!(verdict(Policy::PublicOnly, url), Ok(()), "{url}");
    }
    for url in [
        "ftp://example.com/",
        "file:///etc/passwd",
        "data:text/plain,x",
        "unix:/x",
        "http://user@example.com/",
        "http://:secret@example.com/",
    ] {
        assert!(
            matches!(
                verdict(Policy::NoMetadata, url),
                Err(OutboundError::BadUrl(_))
            ),
            "{url}"
        );
    }
    for url in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]:8080/",
        "http://[::ffff:10.0.0.1]/",
    ] {
        assert_eq!(
            verdict(Policy::PublicOnly, url),
            Err(OutboundError::RefusedAddress),
            "{url}"
        );
        assert_eq!(verdict(Policy::NoMetadata, url), Ok(()), "{url}");
    }
    for url in [
        "http://169.254.169.254/latest",
        "http://metadata.google.internal./",
        "http://[fd00:ec2::254]/",
        "http://0xa9fea9fe/",
    ] {
        assert_eq!(
            verdict(Policy::NoMetadata, url),
            Err(OutboundError::RefusedAddress),
            "{url}"
        );
    }
}

#[test]
fn a_system_without_certificate_authorities_still_gets_a_client() {
    assert!(
        builder(Policy::PublicOnly)
            .tls_certs_only([])
            .build()
            .is_ok()
    );
}
