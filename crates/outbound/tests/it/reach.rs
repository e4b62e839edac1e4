//! Which servers are reachable.

use crate::{answer, server};
use gatehouse_outbound::{AddressSource, Outbound, OutboundError, OutboundSettings};
use std::time::Duration;

fn outbound(allow_private: bool) -> Outbound {
    Outbound::new(OutboundSettings { allow_private }).unwrap()
}

async fn get(outbound: &Outbound, reach: AddressSource, url: &str) -> Result<u16, OutboundError> {
    let request = outbound
        .client(reach)
        .get(url)
        .timeout(Duration::from_secs(20))
        .build()
        .unwrap();
    let response = outbound.send(reach, request).await?;
    Ok(response.status().as_u16())
}

#[tokio::test]
async fn a_local_server_is_the_owners_alone() {
    let port = server(answer("200 OK", "", b"hello")).await.port();
    let outbound = outbound(false);
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
    ] {
        let refused = get(&outbound, AddressSource::Public, &url).await;
        assert_eq!(refused, Err(OutboundError::RefusedAddress), "{url}");
        assert_eq!(
            get(&outbound, AddressSource::Owner, &url).await,
            Ok(200),
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_name_is_judged_by_the_address_it_leads_to_even_without_the_check() {
    let port = server(answer("200 OK", "", b"hello")).await.port();
    let outbound = outbound(false);
    let sent = outbound
        .client(AddressSource::Public)
        .get(format!("http://localhost:{port}/"))
        .send()
        .await;
    let refused = OutboundError::from(sent.unwrap_err());
    assert_eq!(refused, OutboundError::RefusedAddress);
}

#[tokio::test]
async fn allow_private_opens_private_addresses_and_closes_them_again() {
    let port = server(answer("200 OK", "", b"hello")).await.port();
    let url = format!("http://localhost:{port}/");
    let outbound = outbound(true);
    assert_eq!(get(&outbound, AddressSource::Public, &url).await, Ok(200));
    outbound.update_settings(OutboundSettings {
        allow_private: false,
    });
    let refused = get(&outbound, AddressSource::Public, &url).await;
    assert_eq!(refused, Err(OutboundError::RefusedAddress));
}

#[tokio::test]
async fn metadata_is_never_reached() {
    let outbound = outbound(true);
    for reach in [AddressSource::Public, AddressSource::Owner] {
        for url in [
            "http://169.254.169.254/latest/meta-data/",
            "http://metadata.google.internal/computeMetadata/v1/",
            "http://100.100.100.200/",
            "http://[fd00:ec2::254]/",
            "http://[::ffff:169.254.169.254]/",
            "http://[64:ff9b::169.254.169.254]/",
        ] {
            let refused = get(&outbound, reach, url).await;
            assert_eq!(refused, Err(OutboundError::RefusedAddress), "{url}");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_returned_and_not_followed() {
    let away = "location: http://169.254.169.254/\r\n";
    let port = server(answer("302 Found", away, b"")).await.port();
    let url = format!("http://127.0.0.1:{port}/");
    assert_eq!(
        get(&outbound(false), AddressSource::Owner, &url).await,
        Ok(302)
    );
}

#[tokio::test]
async fn nobody_listening_is_worth_another_try_and_says_nothing_of_the_url() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("http://127.0.0.1:{port}/bot-secret-token/");
    let error = get(&outbound(false), AddressSource::Owner, &url)
        .await
        .unwrap_err();
    assert_eq!(error, OutboundError::Connect);
    assert!(error.is_retryable());
    assert!(!format!("{error} {error:?}").contains("secret"));
    let problem = error.problem("Telegram", "url");
    assert_eq!(problem.details["provider"], "Telegram");
    assert_eq!(problem.details["retryable"], true);
}

#[tokio::test]
async fn other_protocols_get_the_same_addresses() {
    let outbound = outbound(false);
    let loopback: std::net::IpAddr = "127.0.0.1".parse().unwrap();
    for host in ["127.0.0.1", "localhost"] {
        let owner = outbound.resolve(AddressSource::Owner, host).await.unwrap();
        assert!(owner.contains(&loopback), "{host}");
        let public = outbound.resolve(AddressSource::Public, host).await;
        assert_eq!(public, Err(OutboundError::RefusedAddress), "{host}");
    }
    for host in [
        "169.254.169.254",
        "fd00:ec2::254",
        "metadata.google.internal",
    ] {
        let refused = outbound.resolve(AddressSource::Owner, host).await;
        assert_eq!(refused, Err(OutboundError::RefusedAddress), "{host}");
    }
}

#[tokio::test]
async fn a_connection_of_another_protocol_obeys_the_same_policy() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let outbound = outbound(false);
    for host in ["127.0.0.1", "localhost", "2130706433"] {
        let owner = outbound.connect_tcp(AddressSource::Owner, host, port).await;
        assert_eq!(owner.unwrap().peer_addr().unwrap().port(), port, "{host}");
        let public = outbound.connect_tcp(AddressSource::Public, host, port);
        assert_eq!(public.await.unwrap_err(), OutboundError::RefusedAddress);
    }
    for host in ["169.254.169.254", "2852039166", "metadata", "fd00:ec2::254"] {
        let refused = outbound.connect_tcp(AddressSource::Owner, host, port).await;
        assert_eq!(
            refused.unwrap_err(),
            OutboundError::RefusedAddress,
            "{host}"
        );
    }
    drop(listener);
    let nobody = outbound.connect_tcp(AddressSource::Owner, "127.0.0.1", port);
    assert_eq!(nobody.await.unwrap_err(), OutboundError::Connect);
}
