//! Addresses of databases, which may have secrets in them.

/// An address without the password in it.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    // Parameters may hold passwords, too, and a password may hold anything.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((user, rest)) => (user.split(':').next().unwrap_or_default(), rest),
        None => ("", rest),
    };
    let place = rest.split('?').next().unwrap_or_default();
    let at = if user.is_empty() { "" } else { "@" };
    format!("{scheme}://{user}{at}{place}")
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
        let shown = without_password("postgres://ann:se/c?ret@host/db?password=secret");
        assert_eq!(shown, "postgres://ann@host/db");
    }
}
