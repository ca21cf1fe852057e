//! Texts that may be credentials.
//!
//! A credential that is taken for an ordinary text would be written into a file that people share; an ordinary text
//! that is taken for a credential costs one variable. So in doubt a text is a credential.

/// Parts of names whose values are credentials.
const NAMES: [&str; 14] = [
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "access-key",
    "auth",
    "bearer",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "private_key",
    "secret",
    "token",
];

/// Ends of names whose values are credentials.
const ENDS: [&str; 4] = ["_key", "-key", "_pat", "_pwd"];

/// Beginnings of well-known credentials.
const PREFIXES: [&str; 24] = [
    "AIza",
    "AKIA",
    "ATATT",
    "Bearer ",
    "EAA",
    "SG.",
    "eyJ",
    "figd_",
    "gho_",
    "ghp_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "hf_",
    "key-",
    "lin_api_",
    "npm_",
    "ntn_",
    "pypi-",
    "secret_",
    "sk-",
    "sk_",
    "tvly-",
    "xox",
];

/// The shortest text that looks random.
const MIN_RANDOM: usize = 20;

/// Reports whether a value under this name may be a credential.
pub(super) fn is_named_credential(name: &str, value: &str) -> bool {
    let lower = name.to_lowercase();
    let is_named = NAMES.iter().any(|part| lower.contains(part)) || ENDS.iter().any(|end| lower.ends_with(end));
    let is_plain = value.is_empty() || value.parse::<f64>().is_ok() || ["true", "false", "none"].contains(&value);
    (is_named && !is_plain) || is_credential(value)
}

/// Reports whether a text may be a credential by itself, or contain one.
pub(super) fn is_credential(text: &str) -> bool {
    let words =
        text.split(|character: char| character.is_whitespace() || matches!(character, '=' | ',' | ';' | '&' | '?'));
    has_password(text)
        || words.into_iter().any(|word| has_prefix(word) || is_random(word))
        || text.starts_with("Bearer ")
}

fn has_prefix(word: &str) -> bool {
    word.len() >= 12 && PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

/// Reports whether a text contains a URL with a password, such as `postgres://user:password@host`.
fn has_password(text: &str) -> bool {
    text.match_indices("://").any(|(at, separator)| {
        let rest = &text[at + separator.len()..];
        let authority = &rest[..rest.find(['/', '?', '#', ' ']).unwrap_or(rest.len())];
        authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    })
}

/// Reports whether a word is long and made of letters and digits in no order that people write.
fn is_random(word: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+');
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    word.len() >= MIN_RANDOM && word.bytes().all(is_part) && digits >= 4 && letters >= 4 && !is_name(word)
}

/// Reports whether digits stand only at the ends of words, as in `server-2026-08-31`.
fn is_name(word: &str) -> bool {
    let is_tidy = |part: &str| {
        let letters = part.trim_end_matches(|character: char| character.is_ascii_digit());
        letters.bytes().all(|byte| byte.is_ascii_alphabetic()) && part.len() <= 16
    };
    word.split(['-', '_', '+']).all(is_tidy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_by_name_or_form() {
        for (name, value) in [
            ("GITHUB_TOKEN", "x"),
            ("OPENAI_API_KEY", "abc"),
            ("DB_PASSWORD", "hunter2"),
            ("X-Api-Key", "abc"),
            ("Authorization", "Basic eA=="),
            ("SLACK_PAT", "abc"),
            ("PLAIN", "ghp_0123456789abcdef"),
            ("PLAIN", "Bearer abc"),
            ("DB", "postgres://user:pw@db.example/x"),
            ("X", "0a1b2c3d4e5f60718293a4b5"),
            ("X", "--key=0a1b2c3d4e5f60718293a4b5"),
            ("X", "6f9619ff-8b86-d011-b42d-00c04fc964ff"),
        ] {
            assert!(is_named_credential(name, value), "{name}={value}");
        }
    }

    #[test]
    fn ordinary_texts_are_none() {
        for (name, value) in [
            ("LOG_LEVEL", "debug"),
            ("MAX_TOKENS", "4096"),
            ("USE_AUTH", "true"),
            ("HOME_FOLDER", "/home/ana/projects/2026/notes"),
            ("URL", "https://api.example.com/v1/items?limit=100"),
            ("URL", "https://ana@git.example.com/x"),
            ("X", "@modelcontextprotocol/server-everything"),
            ("X", "server-filesystem-2026-08-31"),
            ("X", "ghcr.io/github/github-mcp-server:v1.2.3"),
            ("X", ""),
        ] {
            assert!(!is_named_credential(name, value), "{name}={value}");
        }
    }
}
