//! Addresses of databases, which may have secrets in them.

/// An address without the password in it.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let Some(at) = rest[..authority_end].rfind('@') else { return url.to_owned() };
    let user = rest[..at].split(':').next().unwrap_or_default();
    format!("{scheme}://{user}@{}", &rest[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let shown = without_password("mysql://ann:se:c@ret@127.0.0.1:3306/test");
        assert_eq!(shown, "mysql://ann@127.0.0.1:3306/test");
        assert_eq!(without_password("postgres://127.0.0.1/x"), "postgres://127.0.0.1/x");
        assert_eq!(without_password("nonsense"), "nonsense");
    }
}
