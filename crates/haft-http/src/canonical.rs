//! One spelling for every URL and host, so that nobody can dodge a rule about one by writing another.

use std::fmt::Write as _;

use reqwest::Url;

use crate::guard::UrlHost;

/// A text that is not a URL or host with a canonical spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalError {
    /// The text is not a URL.
    #[error("must be an absolute URL, such as https://example.com/page")]
    Url,
    /// The scheme is another.
    #[error("must begin with http:// or https://")]
    Scheme,
    /// The URL contains a user name or a password, which is often mistaken for its host.
    #[error("must not contain a user name or a password")]
    UserInfo,
    /// The text is not a host.
    #[error("must be a host alone, such as example.com or 192.0.2.1, without scheme, port and path")]
    Host,
}

/// Returns the one spelling for an `http` or `https` URL.
///
/// The scheme and the host are in lower case, an international name is in its ASCII form and an address in its usual
/// notation. The default port and a dot at the host's end are left out, and `.` and `..` are resolved. Characters that
/// need no percent-encoding have none, and all others have one in upper case. The fragment is left out: no server
/// receives it.
///
/// ```
/// use haft_http::{CanonicalError, canonical_url};
///
/// assert_eq!(canonical_url("HTTPS://Bücher.Example:443/a/../%7Eb?q=%c3%bc#top")?, "https://xn--bcher-kva.example/~b?q=%C3%BC");
/// assert_eq!(canonical_url("http://0x7f.1/")?, "http://127.0.0.1/");
/// assert_eq!(canonical_url("https://good.example@evil.example/"), Err(CanonicalError::UserInfo));
/// # Ok::<_, CanonicalError>(())
/// ```
pub fn canonical_url(written: &str) -> Result<String, CanonicalError> {
    let mut url = Url::parse(written).map_err(|_| CanonicalError::Url)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(CanonicalError::Scheme);
    }
    // The parser leaves out an `@` without a name before it.
    let after_scheme = written.split_once(':').map_or(written, |(_, rest)| rest);
    let authority = after_scheme.trim_start_matches(['/', '\\', '\t', '\n', '\r']);
    let authority = authority.split(['/', '\\', '?', '#']).next().unwrap_or(authority);
    if !url.username().is_empty() || url.password().is_some() || authority.contains('@') {
        return Err(CanonicalError::UserInfo);
    }
    url.set_fragment(None);
    let host = host_of(&url).ok_or(CanonicalError::Url)?;
    url.set_host(Some(&host)).map_err(|_| CanonicalError::Url)?;
    // Decoding may uncover what the parser resolves, such as `%2e%2e` or its encoded percent sign.
    let path = plain(url.path());
    url.set_path(&path);
    let query = url.query().map(plain);
    url.set_query(query.as_deref());
    Ok(url.into())
}

/// Returns the one spelling for a host: a name in lower case and ASCII, or an address in its usual notation, IPv6 in
/// brackets.
///
/// ```
/// use haft_http::{CanonicalError, canonical_host};
///
/// assert_eq!(canonical_host("Bücher.Example.")?, "xn--bcher-kva.example");
/// assert_eq!(canonical_host("2130706433")?, "127.0.0.1");
/// assert_eq!(canonical_host("0:0::1")?, "[::1]");
/// assert_eq!(canonical_host("example.com:80"), Err(CanonicalError::Host));
/// # Ok::<_, CanonicalError>(())
/// ```
pub fn canonical_host(written: &str) -> Result<String, CanonicalError> {
    let is_bare_v6 = written.parse::<std::net::Ipv6Addr>().is_ok();
    let host = if is_bare_v6 { format!("[{written}]") } else { written.to_owned() };
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    let is_plain =
        |c: char| !c.is_control() && !c.is_whitespace() && !"/\\?#@".contains(c) && (is_bracketed || c != ':');
    if host.is_empty() || !host.chars().all(is_plain) {
        return Err(CanonicalError::Host);
    }
    let url = Url::parse(&format!("http://{host}/")).map_err(|_| CanonicalError::Host)?;
    host_of(&url).ok_or(CanonicalError::Host)
}

/// Returns a URL's host. A name with a trailing dot is the same name.
fn host_of(url: &Url) -> Option<String> {
    match UrlHost::of(url)? {
        UrlHost::Name(name) if name.is_empty() || name.split('.').any(str::is_empty) => None,
        UrlHost::Name(name) => Some(name.into()),
        UrlHost::Address(address) if address.is_ipv6() => Some(format!("[{address}]")),
        UrlHost::Address(address) => Some(address.to_string()),
    }
}

/// Decodes percent-encodings of characters that need none, encodes those that must have one, and writes encodings in
/// upper case. An encoded delimiter stays encoded: it does not delimit.
fn plain(encoded: &str) -> String {
    let bytes = encoded.as_bytes();
    let mut plain = String::with_capacity(encoded.len());
    let mut at = 0;
    while let Some(&raw) = bytes.get(at) {
        let code = encoded.get(at + 1..at + 3).filter(|code| raw == b'%' && !code.starts_with('+'));
        let decoded = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        let byte = decoded.unwrap_or(raw);
        let is_delimiter = decoded.is_none() && b"$&+,;=:@/?".contains(&byte);
        if byte.is_ascii_alphanumeric() || b"-._~!*'()".contains(&byte) || is_delimiter {
            plain.push(char::from(byte));
        } else {
            // Writing to a string never fails.
            let _ = write!(plain, "%{byte:02X}");
        }
        at += if decoded.is_some() { 3 } else { 1 };
    }
    plain
}
