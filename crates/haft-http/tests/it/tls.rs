//! Connections over TLS, to a server with a certificate from its own authority. The files in `tls` were made for these
//! tests and protect nothing.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use haft_http::{HttpClient, HttpError, HttpRequest, Resolver, Resolving};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::join;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, SupportedProtocolVersion, version};

use crate::server::{builder, response};

const AUTHORITY: &[u8] = include_bytes!("tls/authority.pem");
const SERVER: &[u8] = include_bytes!("tls/server.pem");
const KEY: &[u8] = include_bytes!("tls/server.key");

/// Resolves every name to this machine.
struct Loopback;

impl Resolver for Loopback {
    fn resolve(&self, _: &str) -> Resolving {
        Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) })
    }
}

fn acceptor(versions: &[&'static SupportedProtocolVersion]) -> TlsAcceptor {
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let mut config = config
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(SERVER).unwrap()],
            PrivateKeyDer::from_pem_slice(KEY).unwrap(),
        )
        .unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// Sends a request to `host` while a server accepts one connection.
async fn request(client: &HttpClient, host: &str, acceptor: TlsAcceptor) -> Result<String, HttpError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = async {
        let (socket, _) = listener.accept().await.unwrap();
        // A client that does not trust the server ends the handshake.
        let Ok(mut stream) = acceptor.accept(socket).await else { return };
        let mut read = vec![0; 4096];
        let _ = stream.read(&mut read).await;
        stream.write_all(response(200, "", "over TLS").as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    };
    let send = async {
        let response = client.send(HttpRequest::get(format!("https://{host}:{port}/"))).await?;
        Ok(String::from_utf8_lossy(&response.body().await?).into_owned())
    };
    join!(send, serve).0
}

#[tokio::test]
async fn a_server_with_a_certificate_of_a_trusted_authority_is_reached() {
    let client = builder().resolver(Loopback).root_certificates(AUTHORITY).build().unwrap();
    for versions in [&[&version::TLS13][..], &[&version::TLS12]] {
        assert_eq!(request(&client, "server.example", acceptor(versions)).await.unwrap(), "over TLS");
    }
}

#[tokio::test]
async fn a_server_of_an_unknown_authority_is_not_reached() {
    let client = builder().resolver(Loopback).build().unwrap();
    let error = request(&client, "server.example", acceptor(&[&version::TLS13])).await.unwrap_err();
    assert!(!error.sent(), "{error:?}");
}

#[tokio::test]
async fn a_certificate_of_another_host_is_rejected() {
    let client = builder().resolver(Loopback).root_certificates(AUTHORITY).build().unwrap();
    let error = request(&client, "other.example", acceptor(&[&version::TLS13])).await.unwrap_err();
    assert!(!error.sent(), "{error:?}");
}
