//! Hosts: a URL's host, and rules that match hosts.
//!
//! The same URL parser normalises both, so that a rule and a URL never disagree about a host's spelling: case,
//! international names, and addresses in decimal, octal, hexadecimal or short form. A rule matches a host as the URL
//! has it. No rule for an address may match a name that resolves to it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// A URL's host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UrlHost {
    /// A name, without the dot at its end.
    Name(Box<str>),
    /// An address. IPv4-mapped addresses are IPv4 addresses, because connections to both are the same.
    Address(IpAddr),
}

impl UrlHost {
    /// Returns the host of an `http` or `https` URL, which always has one.
    pub(crate) fn of(url: &Url) -> Option<Self> {
        let host = url.host_str()?;
        if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            return address.parse::<Ipv6Addr>().ok().map(|address| Self::Address(IpAddr::V6(address).to_canonical()));
        }
        // The URL parser has written every form of an IPv4 address in the usual one.
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            return Some(Self::Address(address.into()));
        }
        Some(Self::Name(host.strip_suffix('.').unwrap_or(host).into()))
    }
}

/// A rule that matches hosts, such as `localhost:8080` or `*.example.com`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct HostRule {
    host: HostMatch,
    /// None matches every port.
    port: Option<u16>,
}

#[derive(Clone, PartialEq, Eq)]
enum HostMatch {
    Is(UrlHost),
    /// Names that end with a dot and this name.
    Below(Box<str>),
}

/// The error for a malformed host, which a guard can't match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostRuleError {
    /// The host is neither a name nor an address.
    #[error("`{text}` is neither a host name nor an address, such as `localhost`, `localhost:8080` or `[::1]:8080`")]
    InvalidHost {
        /// The host's text.
        text: String,
    },
    /// The port is no number from 1 to 65535.
    #[error("the port of `{text}` is no number from 1 to 65535")]
    InvalidPort {
        /// The host's text.
        text: String,
    },
    /// The host contains an asterisk where none is permitted.
    #[error(
        "`{text}` contains an asterisk, which is permitted only in lists of hosts and only at the beginning, as in \
         `*.example.com`"
    )]
    InvalidWildcard {
        /// The host's text.
        text: String,
    },
}

impl HostRule {
    /// Parses a name or an address with an optional port.
    pub(super) fn exact(text: &str) -> Result<Self, HostRuleError> {
        if text.contains('*') {
            return Err(HostRuleError::InvalidWildcard { text: text.to_owned() });
        }
        let (host, port) = split(text)?;
        Ok(Self { host: HostMatch::Is(host), port })
    }

    /// Parses what [`exact`](Self::exact) does, or an asterisk for the names below another.
    pub(super) fn pattern(text: &str) -> Result<Self, HostRuleError> {
        let Some(parent) = text.strip_prefix("*.") else { return Self::exact(text) };
        let Self { host, port } = Self::exact(parent).map_err(|error| error.about(text))?;
        match host {
            HostMatch::Is(UrlHost::Name(name)) => Ok(Self { host: HostMatch::Below(name), port }),
            HostMatch::Is(UrlHost::Address(_)) | HostMatch::Below(_) => {
                Err(HostRuleError::InvalidWildcard { text: text.to_owned() })
            }
        }
    }

    pub(super) fn matches(&self, host: &UrlHost, port: Option<u16>) -> bool {
        if self.port.is_some() && self.port != port {
            return false;
        }
        match (&self.host, host) {
            (HostMatch::Is(rule), host) => rule == host,
            (HostMatch::Below(parent), UrlHost::Name(name)) => name
                .strip_suffix(parent.as_ref())
                .and_then(|labels| labels.strip_suffix('.'))
                .is_some_and(|labels| !labels.is_empty()),
            (HostMatch::Below(_), UrlHost::Address(_)) => false,
        }
    }
}

impl HostRuleError {
    fn about(self, whole: &str) -> Self {
        let text = whole.to_owned();
        match self {
            Self::InvalidHost { .. } => Self::InvalidHost { text },
            Self::InvalidPort { .. } => Self::InvalidPort { text },
            Self::InvalidWildcard { .. } => Self::InvalidWildcard { text },
        }
    }
}

/// The form in which a rule is written.
impl fmt::Debug for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            HostMatch::Is(UrlHost::Name(name)) => f.write_str(name)?,
            HostMatch::Is(UrlHost::Address(IpAddr::V4(address))) => write!(f, "{address}")?,
            HostMatch::Is(UrlHost::Address(IpAddr::V6(address))) => write!(f, "[{address}]")?,
            HostMatch::Below(name) => write!(f, "*.{name}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// Splits a host from its port.
fn split(text: &str) -> Result<(UrlHost, Option<u16>), HostRuleError> {
    let invalid = || HostRuleError::InvalidHost { text: text.to_owned() };
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok((UrlHost::Address(address.to_canonical()), None));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    // The characters that end a host in a URL, those that the URL parser removes or decodes, and an IPv6 address's port
    // without brackets, which is ambiguous.
    let bracketed = host.starts_with('[');
    let is_foreign = |c: char| matches!(c, '/' | '\\' | '?' | '#' | '@' | '%') || c.is_whitespace() || c.is_control();
    if host.is_empty() || text.contains(is_foreign) || (host.contains(':') && !bracketed) {
        return Err(invalid());
    }
    let url = Url::parse(&format!("http://{host}/")).map_err(|_| invalid())?;
    let host = UrlHost::of(&url).ok_or_else(invalid)?;
    if matches!(&host, UrlHost::Name(name) if name.is_empty() || name.split('.').any(str::is_empty)) {
        return Err(invalid());
    }
    let Some(port) = port else { return Ok((host, None)) };
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse() {
        Ok(number @ 1..) if is_number => Ok((host, Some(number))),
        _ => Err(HostRuleError::InvalidPort { text: text.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::{HostRule, HostRuleError, UrlHost};

    fn matches(rule: &str, url: &str) -> bool {
        let url = Url::parse(url).unwrap();
        HostRule::pattern(rule).unwrap().matches(&UrlHost::of(&url).unwrap(), url.port_or_known_default())
    }

    #[test]
    fn a_rule_matches_every_spelling_of_its_host_and_nothing_else() {
        let table = [
            ("localhost", "http://localhost/ https://LOCALHOST:8443/ http://localhost./", true),
            ("localhost", "http://localhost.example/ http://alocalhost/ http://127.0.0.1/ http://localhost../", false),
            ("LocalHost.:8080", "http://localhost:8080/ https://localhost.:8080/", true),
            (
                "localhost:8080",
                "http://localhost/ http://localhost:80/ https://localhost/ http://localhost:8081/",
                false,
            ),
            ("localhost:80", "http://localhost/", true),
            ("localhost:443", "http://localhost/", false),
            ("127.0.0.1", "http://127.1/ http://2130706433/ http://0x7f.0.0.1:9/ http://[::ffff:7f00:1]/", true),
            ("0177.1:80", "http://127.0.0.1/", true),
            ("127.0.0.1", "http://127.0.0.2/ http://localhost/ http://[::1]/ http://[::127.0.0.1]/", false),
            ("::1", "http://[::1]/ http://[0:0::1]:8080/", true),
            ("[::1]:8080", "http://[::1]:8080/", true),
            ("[::1]:8080", "http://[::1]/ http://[::2]:8080/", false),
            ("::ffff:10.0.0.1", "http://10.0.0.1/ http://[::ffff:10.0.0.1]/", true),
            ("bücher.example", "http://B%C3%BCCHER.example/ http://xn--bcher-kva.example/", true),
            ("*.example.com", "http://a.example.com/ http://b.a.example.com:81/ http://a.EXAMPLE.com./", true),
            ("*.example.com", "http://example.com/ http://aexample.com/ http://a.example.com.evil/", false),
            ("*.example.com:443", "https://a.example.com/", true),
            ("*.example.com:443", "http://a.example.com/", false),
            ("example.com", "http://example.com@evil.example/ http://evil.example/example.com", false),
        ];
        for (rule, urls, expected) in table {
            for url in urls.split(' ') {
                assert_eq!(matches(rule, url), expected, "{rule} {url}");
            }
        }
    }

    #[test]
    fn malformed_rules_are_rejected_by_cause() {
        for text in [
            "",
            ":80",
            "a b",
            "http://a",
            "a/b",
            "user@a",
            "a?b",
            "a#b",
            "a\\b",
            "%61",
            "[::1",
            "::1]:80",
            "[::g]",
            "1.2.3.4.5",
            "256.0.0.1",
            "a..b",
            ".",
            "::1:8080:x",
            "a\n",
            "1:2:3",
            "[::1]x",
        ] {
            let error = HostRule::exact(text).unwrap_err();
            assert!(matches!(error, HostRuleError::InvalidHost { .. }), "{text}: {error:?}");
        }
        for text in ["a:", "a:0", "a:65536", "a:x", "a:+1", "a:-1", "[::1]:", "127.0.0.1:99999", "*.a:x"] {
            let error = HostRule::pattern(text).unwrap_err();
            assert_eq!(error, HostRuleError::InvalidPort { text: text.to_owned() });
        }
        for text in ["*", "*a.example", "a.*", "a.*.example", "*.*.example", "*.127.0.0.1", "*.[::1]"] {
            let error = HostRule::pattern(text).unwrap_err();
            assert_eq!(error, HostRuleError::InvalidWildcard { text: text.to_owned() });
        }
        assert!(matches!(HostRule::exact("*.a.example"), Err(HostRuleError::InvalidWildcard { .. })));
    }

    #[test]
    fn debug_output_is_the_normalised_text() {
        for (text, shown) in
            [("A.example:80", "a.example:80"), ("[::1]:8", "[::1]:8"), ("*.b", "*.b"), ("127.1", "127.0.0.1")]
        {
            assert_eq!(format!("{:?}", HostRule::pattern(text).unwrap()), shown);
        }
    }
}
