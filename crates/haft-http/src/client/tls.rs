//! TLS: protocols, cryptography and trust.
//!
//! The configuration is made here and not by `reqwest`. `reqwest` would take the cryptography from a process-wide
//! setting, or bring another library that takes longer to build than everything else together.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;

use crate::error::HttpError;

/// The setting's name in errors.
const CONFIGURATION: &str = "TLS configuration";
const CERTIFICATE: &str = "root certificate";

/// Returns the configuration for connections that trust what the system trusts, and these certificates in PEM form.
pub(super) fn config(root_certificates: &[Vec<u8>]) -> Result<ClientConfig, HttpError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::setting(CONFIGURATION, error))?;
    let verifier = verifier(root_certificates, provider)?;
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn verifier(pems: &[Vec<u8>], provider: Arc<rustls::crypto::CryptoProvider>) -> Result<Verifier, HttpError> {
    if pems.is_empty() {
        return Verifier::new(provider).map_err(|error| HttpError::setting(CONFIGURATION, error));
    }
    let mut roots = Vec::new();
    for pem in pems {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let certificates = certificates.map_err(|error| HttpError::setting(CERTIFICATE, error))?;
        if certificates.is_empty() {
            return Err(HttpError::setting(CERTIFICATE, "the text contains no certificate in PEM form"));
        }
        roots.extend(certificates);
    }
    with_roots(roots, provider)
}

#[cfg(any(all(unix, not(target_os = "android")), target_os = "windows"))]
fn with_roots(
    roots: Vec<CertificateDer<'static>>,
    provider: Arc<rustls::crypto::CryptoProvider>,
) -> Result<Verifier, HttpError> {
    Verifier::new_with_extra_roots(roots, provider).map_err(|error| HttpError::setting(CERTIFICATE, error))
}

#[cfg(not(any(all(unix, not(target_os = "android")), target_os = "windows")))]
fn with_roots(_: Vec<CertificateDer<'static>>, _: Arc<rustls::crypto::CryptoProvider>) -> Result<Verifier, HttpError> {
    Err(HttpError::setting(CERTIFICATE, "this system accepts no further certificates"))
}
