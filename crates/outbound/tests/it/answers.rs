//! How much of a response is read.

use crate::{answer, server};
use gatehouse_outbound::{AddressSource, Outbound, OutboundError, OutboundSettings, read_capped};

/// 10,000 zero bytes, from `printf '\0%.0s' {1..10000} | gzip -n9`, in hexadecimal.
const ZEROS_GZIP: &str =
    "1f8b0800000000000203edc1010d000000c2a0f74f6d0e37a0000000000000000000e0df002eca3b4d10270000";

async fn read(answer: Vec<u8>, max_bytes: usize) -> Result<(Vec<u8>, bool), OutboundError> {
    let port = server(answer).await.port();
    let outbound = Outbound::new(OutboundSettings::default()).unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    let request = outbound
        .client(AddressSource::Owner)
        .get(url)
        .build()
        .unwrap();
    read_capped(
        outbound.send(AddressSource::Owner, request).await?,
        max_bytes,
    )
    .await
}

#[tokio::test]
async fn a_body_is_read_up_to_the_limit_and_not_past_it() {
    let hello = || answer("200 OK", "", b"hello");
    assert_eq!(read(hello(), 5).await, Ok((b"hello".to_vec(), false)));
    assert_eq!(read(hello(), 4).await, Ok((b"hell".to_vec(), true)));
    assert_eq!(read(hello(), 0).await, Ok((Vec::new(), true)));
    assert_eq!(
        read(answer("200 OK", "", b""), 0).await,
        Ok((Vec::new(), false))
    );
}

#[tokio::test]
async fn the_limit_counts_unpacked_bytes() {
    let packed: Vec<u8> = (0..ZEROS_GZIP.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&ZEROS_GZIP[at..at + 2], 16).unwrap())
        .collect();
    assert!(packed.len() < 100);
    let zeros = || answer("200 OK", "content-encoding: gzip\r\n", &packed);
    assert_eq!(read(zeros(), 10_000).await, Ok((vec![0; 10_000], false)));
    assert_eq!(read(zeros(), 9_999).await, Ok((vec![0; 9_999], true)));
}

#[tokio::test]
async fn a_broken_answer_is_an_error() {
    let mut short = answer("200 OK", "", b"hello");
    short.truncate(short.len() - 1);
    assert_eq!(read(short, 100).await, Err(OutboundError::BadResponse));
    let no_gzip = answer("200 OK", "content-encoding: gzip\r\n", b"hello");
    assert_eq!(read(no_gzip, 100).await, Err(OutboundError::BadResponse));
}
