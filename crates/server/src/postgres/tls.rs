//! The certificate and its key.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::sync::Arc;

/// What it takes to encrypt connections.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    certificate: Arc<[u8]>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(…)")
    }
}

/// Why connections cannot be encrypted like that.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// There is no certificate.
    #[error("this is no certificate in PEM format: {0}")]
    Certificate(String),
    /// There is no key.
    #[error("this is no private key in PEM format: {0}")]
    Key(String),
    /// They do not fit.
    #[error("certificate and key cannot be used together: {0}")]
    Pair(String),
}

impl Tls {
    /// A chain of certificates and the key of the first, both in PEM format.
    pub fn new(certificates: &[u8], key: &[u8]) -> Result<Tls, TlsError> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<_, _>>()
            .map_err(|error| TlsError::Certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(TlsError::Certificate("nothing was found in it".to_owned()));
        }
        let key =
            PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(error.to_string()))?;
        let pair = |error: rustls::Error| TlsError::Pair(error.to_string());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(pair)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(pair)?;
        Ok(Tls { config: Arc::new(config), certificate: certificates.into() })
    }

    pub(crate) fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }

    /// The certificates, in PEM format.
    pub(super) fn certificate(&self) -> &[u8] {
        &self.certificate
    }
}
