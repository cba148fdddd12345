//! Encryption, as clients of PostgreSQL and MySQL ask for it in an address: whether there is any,
//! and whether the server's certificate is looked at.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What an address asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Encryption {
    /// None.
    Off,
    /// If the server has it; whoever answers is believed.
    Preferred,
    /// In any case; whoever answers is believed.
    Required,
    /// In any case, with a certificate for the server's name that these roots vouch for.
    Verified(Option<PathBuf>),
}

/// The value of a parameter of an address, and the address without it.
pub(super) fn take_parameter(url: &str, name: &str) -> (Option<String>, String) {
    let Some((place, parameters)) = url.rsplit_once('?') else { return (None, url.to_owned()) };
    let mut value = None;
    let mut left = Vec::new();
    for parameter in parameters.split('&') {
        match parameter.split_once('=') {
            Some((key, text)) if key == name => value = Some(text.to_owned()),
            _ => left.push(parameter),
        }
    }
    let rest =
        if left.is_empty() { place.to_owned() } else { format!("{place}?{}", left.join("&")) };
    (value, rest)
}

/// The settings of a connection.
pub(super) fn config(encryption: &Encryption) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = match encryption {
        Encryption::Verified(path) => {
            builder.with_root_certificates(roots(path.as_deref())?).with_no_client_auth()
        }
        _ => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
            .with_no_client_auth(),
    };
    Ok(config)
}

fn roots(path: Option<&Path>) -> Result<RootCertStore, String> {
    let Some(path) = path else {
        return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
    };
    let problem = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut store = RootCertStore::empty();
    for found in CertificateDer::pem_file_iter(path).map_err(|error| problem(&error))? {
        let certificate = found.map_err(|error| problem(&error))?;
        store.add(certificate).map_err(|error| problem(&error))?;
    }
    Ok(store)
}

/// Believes every certificate, as `sslmode=require` does.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_taken_out_of_an_address() {
        let url = "postgres://ann@host/db?a=1&sslrootcert=/x.pem&b=2";
        let (path, rest) = take_parameter(url, "sslrootcert");
        assert_eq!(path.as_deref(), Some("/x.pem"));
        assert_eq!(rest, "postgres://ann@host/db?a=1&b=2");
        let (none, same) = take_parameter("postgres://host/db", "sslmode");
        assert_eq!((none, same.as_str()), (None, "postgres://host/db"));
        let (mode, rest) = take_parameter("postgres://host/db?sslmode=require", "sslmode");
        assert_eq!((mode.as_deref(), rest.as_str()), (Some("require"), "postgres://host/db"));
    }
}
