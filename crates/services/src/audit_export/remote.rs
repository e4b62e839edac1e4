//! Copies the audit log to a syslog server on another host. Messages have the format of RFC 5424, over UDP (RFC
//! 5426), TCP (RFC 6587, with octet counting) or TLS (RFC 5425).
//!
//! Syslog has no acknowledgments. Over TCP and TLS, the gateway ends the connection, and the rows count as sent
//! when the server has also closed it. If the connection breaks, its rows are sent again. A proxy that accepts
//! connections while its server is down looks like a server that has read the rows, so these rows are lost.

use super::record;
use super::syslog::{MAX_RECORD_BYTES, PRIORITY, TAG};
use futures_util::future::poll_immediate;
use gatehouse_config::{RemoteSyslog, SyslogTransport};
use gatehouse_outbound::{AddressSource, Outbound, OutboundError};
use gatehouse_store::AuditRow;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;

/// How long the server may take to close the connection. If it does not close the connection in this time, the rows
/// count as sent.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// The name of a host has at most 255 characters (RFC 5424, section 6).
const MAX_HOST_CHARS: usize = 255;

/// Why rows were not sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error(transparent)]
    Outbound(#[from] OutboundError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Sends the rows. Sets `through` to the number of the last row that was sent.
pub(super) async fn send(
    outbound: &Outbound,
    to: &RemoteSyslog,
    rows: &[AuditRow],
    through: &mut i64,
) -> Result<(), SendError> {
    let host = host_name();
    match to.transport {
        SyslogTransport::Udp => {
            let socket = connect_udp(outbound, to).await?;
            for row in rows {
                socket.send(message(row, &host).as_bytes()).await?;
                *through = row.seq;
            }
        }
        SyslogTransport::Tcp | SyslogTransport::Tls => {
            let connecting = outbound.connect(AddressSource::Owner, &to.host, to.port);
            let mut stream = connecting.await?;
            if to.transport == SyslogTransport::Tls {
                stream = outbound.secure(stream, &to.host).await?;
            }
            let frames: String = rows.iter().map(|row| frame(&message(row, &host))).collect();
            stream.io.write_all(frames.as_bytes()).await?;
            fail_if_closed(&mut stream.io).await?;
            stream.io.shutdown().await?;
            let closed = async {
                let mut ignored = [0; 256];
                while stream.io.read(&mut ignored).await? > 0 {}
                Ok::<_, std::io::Error>(())
            };
            match tokio::time::timeout(CLOSE_TIMEOUT, closed).await {
                // Many servers close the connection without ending TLS first.
                Ok(Err(error)) if error.kind() != ErrorKind::UnexpectedEof => {
                    return Err(error.into());
                }
                Ok(_) | Err(_) => {}
            }
            if let Some(last) = rows.last() {
                *through = last.seq;
            }
        }
    }
    Ok(())
}

/// Fails if the server has already closed the connection. The server may then not have read the rows. If it closes
/// the connection before the rows arrive, neither the write nor the shutdown reports an error.
async fn fail_if_closed(io: &mut (impl AsyncRead + Unpin)) -> std::io::Result<()> {
    // Lets the runtime receive data that has arrived.
    tokio::task::yield_now().await;
    match poll_immediate(io.read(&mut [0; 256])).await {
        Some(Ok(0)) => Err(ErrorKind::ConnectionAborted.into()),
        Some(Err(error)) => Err(error),
        Some(Ok(_)) | None => Ok(()),
    }
}

async fn connect_udp(outbound: &Outbound, to: &RemoteSyslog) -> Result<UdpSocket, SendError> {
    let found = outbound.resolve(AddressSource::Owner, &to.host).await?;
    let address = *found.first().ok_or(OutboundError::Connect)?;
    let any = match address {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect((address, to.port)).await?;
    Ok(socket)
}

/// Prefixes a message with its length in bytes.
fn frame(message: &str) -> String {
    format!("{} {message}", message.len())
}

/// Returns `<PRI>VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA MSG`.
fn message(row: &AuditRow, host: &str) -> String {
    let (time, process) = (row.at, std::process::id());
    let record = record::short_line(row, MAX_RECORD_BYTES);
    format!("<{PRIORITY}>1 {time} {host} {TAG} {process} audit - {record}")
}

/// Returns the name of this machine, or `-`.
fn host_name() -> String {
    let names = rustix::system::uname();
    printable(&names.nodename().to_string_lossy())
}

fn printable(name: &str) -> String {
    let printable = name.chars().filter(char::is_ascii_graphic);
    let name: String = printable.take(MAX_HOST_CHARS).collect();
    if name.is_empty() {
        return "-".to_owned();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::row;
    use super::*;

    #[test]
    fn a_message_has_the_format_of_rfc_5424_and_a_frame_its_length_in_bytes() {
        let text = message(&row(1, "{}"), "gate");
        let start = format!(
            "<85>1 2027-01-15T08:00:00.123Z gate gatehouse-audit {} audit - {{\"seq\":1,",
            std::process::id()
        );
        assert!(text.starts_with(&start), "{text}");
        assert_eq!(frame("ä b"), "4 ä b");
    }

    #[test]
    fn the_host_has_at_most_255_printable_characters() {
        assert_eq!(printable("a host\u{e4}\n"), "ahost");
        assert_eq!(printable(""), "-");
        assert_eq!(printable(&"a".repeat(256)).len(), 255);
    }
}
