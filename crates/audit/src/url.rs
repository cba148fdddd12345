//! Addresses of databases and commands, which may have secrets in them.

/// An address without the password in it.
pub fn without_password(url: &str) -> String {
    if let Some((scheme, rest)) = url.split_once("://") {
        return format!("{scheme}://{}", shown_place(rest));
    }
    // Without slashes the same may be meant.
    match url.split_once(':') {
        Some((scheme, rest)) if rest.contains('@') => format!("{scheme}:{}", shown_place(rest)),
        _ => without_secrets(url),
    }
}

/// User, host and database. A password may hold anything, and so may parameters.
fn shown_place(rest: &str) -> String {
    let Some((secret, host)) = rest.rsplit_once('@') else {
        return rest.split('?').next().unwrap_or_default().to_owned();
    };
    let user = secret.split([':', '/', '?']).next().unwrap_or_default();
    // An `@` in the value of a parameter: what stands behind it may be a part of a password, too.
    let is_in_parameters = secret.split_once('?').is_some_and(|(_, after)| after.contains('='));
    if is_in_parameters {
        return user.to_owned();
    }
    let place = host.split('?').next().unwrap_or_default();
    let at = if user.is_empty() { "" } else { "@" };
    format!("{user}{at}{place}")
}

/// Parts of names of variables and flags whose values are secret.
const SECRET: [&str; 5] = ["PASSWORD", "PASSWD", "PWD", "SECRET", "TOKEN"];
/// Flags whose next word is secret.
const SECRET_FLAGS: [&str; 3] = ["--password", "--pass", "--requirepass"];
/// What stands for a secret.
const HIDDEN: &str = "…";

/// A command, or words about one, without passwords in it: values of variables and flags that are
/// called so, `-pSECRET` of MySQL's clients, `-a SECRET` of Redis's, and those in addresses.
pub(crate) fn without_secrets(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    let is_about = |name: &str| text.contains(name);
    let is_mysql = is_about("mysql") || is_about("mariadb");
    while !rest.is_empty() {
        let length = rest.find(is_border).unwrap_or(rest.len());
        if length == 0 {
            let border = rest.chars().next().map_or(rest.len(), char::len_utf8);
            shown += &rest[..border];
            rest = &rest[border..];
            continue;
        }
        let word = &rest[..length];
        if let Some(name) = secret_name(word) {
            shown += name;
            shown += HIDDEN;
            rest = &rest[name.len() + value_length(&rest[name.len()..])..];
            continue;
        }
        rest = &rest[length..];
        if word.contains("://") {
            shown += &without_password(word);
        } else if is_password_flag(word, is_mysql) {
            shown += &word[..2];
            shown += HIDDEN;
        } else {
            shown += word;
        }
        if SECRET_FLAGS.contains(&word) || (word == "-a" && is_about("redis-cli")) {
            let spaces = rest.len() - rest.trim_start().len();
            shown += &rest[..spaces];
            rest = &rest[spaces..];
            let secret = value_length(rest);
            shown += if secret > 0 { HIDDEN } else { "" };
            rest = &rest[secret..];
        }
    }
    shown
}

fn is_border(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\'' | '"' | ';' | '|' | '&' | '(' | ')' | '`')
}

/// `PGPASSWORD=` of `PGPASSWORD=x`.
fn secret_name(word: &str) -> Option<&str> {
    let end = word.find('=')? + 1;
    let name = word[..end].to_ascii_uppercase();
    let is_name = name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-.=".contains(&c));
    (is_name && SECRET.iter().any(|part| name.contains(part))).then(|| &word[..end])
}

/// How long the value is that a text begins with, quotes included.
fn value_length(text: &str) -> usize {
    match text.chars().next() {
        Some(quote @ ('\'' | '"')) => text[1..].find(quote).map_or(text.len(), |end| end + 2),
        _ => text.find(is_border).unwrap_or(text.len()),
    }
}

/// `-pSECRET`. For others than MySQL's clients it is a port.
fn is_password_flag(word: &str, is_mysql: bool) -> bool {
    let value = word.strip_prefix("-p").unwrap_or_default();
    !value.is_empty() && (is_mysql || !value.bytes().all(|c| c.is_ascii_digit()))
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

    #[test]
    fn passwords_are_not_shown_wherever_they_stand() {
        for (url, expected) in [
            ("mysql:ann:secret@host/db", "mysql:ann@host/db"),
            ("postgres:ann:secret@host", "postgres:ann@host"),
            ("host=h password=secret user=ann", "host=h password=… user=ann"),
            ("postgres://host/db?password=sec@ret", "postgres://host"),
            ("postgres://host:5432/db?user=a@b&password=secret", "postgres://host"),
            ("postgres://ann:secret@host/db?password=sec@ret", "postgres://ann"),
            ("redis://:secret@host:6379", "redis://host:6379"),
        ] {
            assert_eq!(without_password(url), expected, "{url}");
        }
    }

    #[test]
    fn commands_are_shown_without_their_secrets() {
        for (text, expected) in [
            ("PGPASSWORD=secret psql -p 5433 -c 'x = 1'", "PGPASSWORD=… psql -p 5433 -c 'x = 1'"),
            ("PGPASSWORD='sec ret' psql -p5433", "PGPASSWORD=… psql -p5433"),
            ("sh -c \"MYSQL_PWD=secret mysql\"", "sh -c \"MYSQL_PWD=… mysql\""),
            ("mysql -uann -psecret -e 'kill 3'", "mysql -uann -p… -e 'kill 3'"),
            ("mariadb -p123", "mariadb -p…"),
            ("mysql --password=secret;ls", "mysql --password=…;ls"),
            ("mysqladmin --password secret shutdown", "mysqladmin --password … shutdown"),
            ("redis-cli -a secret shutdown", "redis-cli -a … shutdown"),
            ("psql postgres://ann:secret@h/db", "psql postgres://ann@h/db"),
            ("kill -9 1 && echo täglich", "kill -9 1 && echo täglich"),
            ("PGPASSWORD='sec", "PGPASSWORD=…"),
            ("docker restart db", "docker restart db"),
        ] {
            assert_eq!(without_secrets(text), expected);
        }
    }
}
