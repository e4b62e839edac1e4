//! TLS for PostgreSQL: the certificates that each `sslmode` accepts. A proxy in this process terminates TLS
//! and forwards the decrypted data to the real server.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot continue has failed; the front's tasks end with the test"
)]

use futures_util::future::join_all;
use gatehouse_store::testing::{TestDatabase, postgres};
use gatehouse_store::{Location, Store};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// `SSLRequest`: its length and its code
/// (<https://www.postgresql.org/docs/current/protocol-message-formats.html>).
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

struct TlsProxy {
    port: u16,
    database: TestDatabase,
    /// The certificate of the authority that signed the server's certificate. `other_root` is the certificate of
    /// another authority.
    root: PathBuf,
    other_root: PathBuf,
}

fn authority() -> (KeyPair, CertificateParams) {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    (KeyPair::generate().unwrap(), params)
}

impl TlsProxy {
    /// Starts a proxy whose certificate is for `name`; `None` without PostgreSQL.
    async fn of(name: &str) -> Option<Self> {
        let database = postgres().await?;
        let (authority_key, authority_params) = authority();
        let root = authority_params.self_signed(&authority_key).unwrap();
        let (other_key, other_params) = authority();
        let other = other_params.self_signed(&other_key).unwrap();
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::new(authority_params, authority_key);
        let certificate = CertificateParams::new([name.to_owned()])
            .unwrap()
            .signed_by(&key, &issuer)
            .unwrap();
        let write = |file: &str, pem: String| {
            let path = database.directory().join(file);
            std::fs::write(&path, pem).unwrap();
            path
        };
        let (root, other_root) = (
            write("root.pem", root.pem()),
            write("other.pem", other.pem()),
        );
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = database.location.url();
        let server = url.split(['@', '/']).nth(3).unwrap().to_owned();
        tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(config)), server));
        Some(Self {
            port,
            database,
            root,
            other_root,
        })
    }

    async fn opens(&self, parameters: &str) -> bool {
        let url = self.database.location.url();
        let (user, rest) = url.split_once('@').unwrap();
        let path = rest.split_once('/').unwrap().1;
        let url = format!("{user}@localhost:{}/{path}?{parameters}", self.port);
        match Store::open(&Location::from_url(&url).unwrap()).await {
            Ok(store) => {
                store.ping().await.unwrap();
                store.close().await;
                true
            }
            Err(_) => false,
        }
    }
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, server: String) {
    while let Ok((mut client, _)) = listener.accept().await {
        let (acceptor, server) = (acceptor.clone(), server.clone());
        tokio::spawn(async move {
            let mut request = [0; 8];
            client.read_exact(&mut request).await.unwrap();
            assert_eq!(request, SSL_REQUEST, "the client asks for encryption");
            client.write_all(b"S").await.unwrap();
            if let Ok(mut client) = acceptor.accept(client).await {
                let mut server = TcpStream::connect(server).await.unwrap();
                drop(copy_bidirectional(&mut client, &mut server).await);
            }
        });
    }
}

#[tokio::test]
async fn each_mode_accepts_the_certificates_that_it_should() {
    let (Some(named), Some(misnamed)) = (
        TlsProxy::of("localhost").await,
        TlsProxy::of("elsewhere.example").await,
    ) else {
        return;
    };
    // A refused connection is retried for ten seconds, so all cases run concurrently.
    let cases = [
        (&named, "require", None, true),
        (&misnamed, "prefer", None, true),
        (&named, "verify-full", Some(&named.root), true),
        (&named, "verify-full", Some(&named.other_root), false),
        (&misnamed, "verify-full", Some(&misnamed.root), false),
        (&misnamed, "verify-ca", Some(&misnamed.root), true),
        (&misnamed, "verify-ca", Some(&misnamed.other_root), false),
        // As in libpq, a specified root is always used.
        (&misnamed, "require", Some(&misnamed.root), true),
        (&misnamed, "require", Some(&misnamed.other_root), false),
        // The system does not trust the authority that signed the certificate.
        (&named, "verify-full", None, false),
    ];
    join_all(cases.map(async |(front, mode, root, expected)| {
        let root = root.map_or(String::new(), |path| {
            format!("&sslrootcert={}", path.display())
        });
        let parameters = format!("sslmode={mode}{root}");
        assert_eq!(front.opens(&parameters).await, expected, "{parameters}");
    }))
    .await;
}

#[test]
fn an_unknown_mode_is_refused() {
    let url = "postgres://user@host/name?sslmode=sometimes";
    assert!(Location::from_url(url).is_err());
}
