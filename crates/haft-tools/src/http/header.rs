//! The headers that a mapping may set.

use haft_http::{HeaderName, HeaderValue};

/// Headers that the client sets, or that control the connection.
const OF_CONNECTION: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that arguments can't set, besides the connection's.
const NOT_OF_ARGUMENTS: [&str; 3] = ["authorization", "content-type", "cookie"];

/// A header value's origin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderOrigin {
    Constant,
    Argument,
    Secret,
}

/// Returns the fault in a header with this name, if it has one.
pub(super) fn name_fault(name: &str, origin: HeaderOrigin) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    if HeaderName::from_bytes(name.as_bytes()).is_err() {
        return Some(format!("`{name}` is no valid name of a header"));
    }
    if OF_CONNECTION.contains(&lower.as_str()) {
        return Some(format!("the header `{lower}` is set by the HTTP client; remove it"));
    }
    match origin {
        HeaderOrigin::Argument if NOT_OF_ARGUMENTS.contains(&lower.as_str()) => {
            Some(format!("the header `{lower}` can't be set by an argument; use `auth`, `cookies` or `body`"))
        }
        HeaderOrigin::Constant if lower == "content-type" => {
            Some("the type of the body is set by `content-type` of `body`".to_owned())
        }
        HeaderOrigin::Constant if lower == "cookie" => Some("cookies are set by `cookies`".to_owned()),
        HeaderOrigin::Constant if lower == "authorization" => {
            Some("credentials are named secrets; set `auth` in place of the header `authorization`".to_owned())
        }
        HeaderOrigin::Constant | HeaderOrigin::Argument | HeaderOrigin::Secret => None,
    }
}

/// Returns the fault in a constant header, if it has one.
#[cfg(feature = "mcp")]
pub(crate) fn constant_fault(name: &str, value: &str) -> Option<String> {
    let invalid =
        || (!is_value(value)).then(|| "the value must consist of visible ASCII characters and spaces".to_owned());
    name_fault(name, HeaderOrigin::Constant).or_else(invalid)
}

/// Reports whether a text can be a header value. Servers disagree about characters other than ASCII.
pub(super) fn is_value(text: &str) -> bool {
    text.is_ascii() && HeaderValue::from_str(text).is_ok()
}

/// Reports whether a text can be a cookie name, which has the same characters as a header name.
pub(super) fn is_cookie_name(name: &str) -> bool {
    HeaderName::from_bytes(name.as_bytes()).is_ok()
}
