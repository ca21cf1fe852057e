//! Resolution of references between schemas, according to RFC 3986. Nothing here is ever fetched: addresses are only
//! names.

/// The base of a schema that has no address.
pub(super) const NAMELESS: &str = "haft:///schema";

/// The components of a URI or relative reference.
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

/// Splits a reference into the part before its fragment and the fragment.
pub(super) fn split_fragment(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// Resolves a reference without a fragment against an absolute base.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let (base, own) = (Parts::of(base), Parts::of(reference));
    if own.scheme.is_some() {
        return Parts { path: &without_dots(own.path), ..own }.write();
    }
    if own.authority.is_some() {
        return Parts { scheme: base.scheme, path: &without_dots(own.path), ..own }.write();
    }
    let path = match own.path {
        "" => base.path.to_owned(),
        path if path.starts_with('/') => without_dots(path),
        path => without_dots(&merged(&base, path)),
    };
    let query = if own.path.is_empty() { own.query.or(base.query) } else { own.query };
    Parts { path: &path, query, ..base }.write()
}

/// Decodes a fragment, or returns `None` if the result is not text.
pub(super) fn percent_decoded(fragment: &str) -> Option<String> {
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, text),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let Some(hierarchical) = rest.strip_prefix("//") else {
            return Self { scheme, authority: None, path: rest, query };
        };
        let end = hierarchical.find('/').unwrap_or(hierarchical.len());
        let (authority, path) = hierarchical.split_at(end);
        Self { scheme, authority: Some(authority), path, query }
    }

    fn write(self) -> String {
        let Self { scheme, authority, path, query } = self;
        let mut uri = String::new();
        if let Some(scheme) = scheme {
            uri.push_str(scheme);
            uri.push(':');
        }
        if let Some(authority) = authority {
            uri.push_str("//");
            uri.push_str(authority);
        }
        uri.push_str(path);
        if let Some(query) = query {
            uri.push('?');
            uri.push_str(query);
        }
        uri
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Replaces the last segment of the base's path with a relative path.
fn merged(base: &Parts<'_>, path: &str) -> String {
    if base.authority.is_some() && base.path.is_empty() {
        return format!("/{path}");
    }
    let folder = base.path.rfind('/').map_or("", |end| &base.path[..=end]);
    format!("{folder}{path}")
}

fn without_dots(path: &str) -> String {
    if !path.contains("./") && !path.ends_with('.') {
        return path.to_owned();
    }
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').collect();
    for (at, segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        match *segment {
            "." if is_last => kept.push(""),
            "." => {}
            ".." => {
                if kept.len() > 1 || kept.first().is_some_and(|first| !first.is_empty()) {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    kept.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_in_rfc_3986() {
        let base = "http://a/b/c/d;p?q";
        let table = [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/../h", "http://a/b/c/h"),
        ];
        for (reference, expected) in table {
            assert_eq!(resolve(base, reference), expected, "{reference}");
        }
        assert_eq!(resolve("urn:uuid:1", ""), "urn:uuid:1");
        assert_eq!(resolve("urn:example:root", "urn:example:other"), "urn:example:other");
        assert_eq!(resolve(NAMELESS, "item.json"), "haft:///item.json");
        assert_eq!(resolve("http://a", "b.json"), "http://a/b.json");
    }

    #[test]
    fn fragments_decode_to_text_or_not_at_all() {
        assert_eq!(percent_decoded("/a%25b~1%C3%A9").as_deref(), Some("/a%b~1é"));
        for broken in ["%", "%1", "%zz", "%FF"] {
            assert_eq!(percent_decoded(broken), None, "{broken}");
        }
    }
}
