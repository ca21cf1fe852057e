//! An operation's path as part of a URL template.

use super::skip::SkipReason;

/// The maximum path length in bytes. Few servers accept longer ones.
const MAX_PATH: usize = 8 << 10;

/// An operation's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OperationPath<'d> {
    /// The template, with the names that [`variable_name`] returns.
    pub(super) template: String,
    /// The variables, each once, as the document names them.
    pub(super) variables: Vec<&'d str>,
}

/// Reads a path. A fragment only tells operations apart and is never sent, so it is left out.
pub(super) fn operation_path(path: &str) -> Result<OperationPath<'_>, SkipReason> {
    let invalid = |fault| SkipReason::InvalidPath { fault };
    if !path.starts_with('/') {
        return Err(invalid("it must begin with a slash"));
    }
    let sent = path.split('#').next().unwrap_or(path);
    if sent.len() > MAX_PATH {
        return Err(invalid("it is longer than 8,192 bytes"));
    }
    let mut template = String::with_capacity(sent.len());
    let mut variables = Vec::new();
    let mut rest = sent;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, braced) = rest.split_at(at);
        let inner = braced.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, after) = inner.ok_or_else(|| invalid("a brace has no counterpart"))?;
        if name.is_empty() || name.contains('{') {
            return Err(invalid("a variable has no name"));
        }
        let index = variables.iter().position(|known| *known == name).unwrap_or(variables.len());
        if index == variables.len() {
            variables.push(name);
        }
        if before.contains('?') || template.contains('?') {
            return Err(invalid("the query must not contain variables; use parameters"));
        }
        template.push_str(before);
        template.push_str(&format!("{{{}}}", variable_name(name)));
        rest = after;
    }
    template.push_str(rest);
    Ok(OperationPath { template, variables })
}

/// Returns a variable's name in a URL template, where some characters have a meaning.
pub(super) fn variable_name(name: &str) -> String {
    let plain =
        name.replace(['/', '?', '&', '=', '#', '\\'], "_").replace(|c: char| c.is_whitespace() || c.is_control(), "_");
    match plain.strip_prefix('+') {
        Some(rest) => format!("_{rest}"),
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::{operation_path, variable_name};

    #[test]
    fn variables_are_found_once_each_in_their_order() {
        for (path, template, variables) in [
            ("/pets", "/pets", &[][..]),
            ("/pets/{id}", "/pets/{id}", &["id"]),
            ("/{a}/{b}:{a}", "/{a}/{b}:{a}", &["a", "b"]),
            ("/#Action=Run", "/", &[]),
            ("/x/{id}#{op}", "/x/{id}", &["id"]),
            ("/x?beta=true", "/x?beta=true", &[]),
            ("/{+name}", "/{_name}", &["+name"]),
            ("/{a b}", "/{a_b}", &["a b"]),
        ] {
            let found = operation_path(path).unwrap();
            assert_eq!((found.template.as_str(), &found.variables[..]), (template, variables), "{path}");
        }
        assert_eq!(variable_name("a/b"), "a_b");
    }

    #[test]
    fn malformed_paths_are_rejected() {
        let long = "/{a}".repeat(3_000);
        for path in [long.as_str(), "", "pets", "http://host/pets", "/{", "/}", "/{}", "/{a{b}}", "/{a}}", "/x?y={z}"] {
            assert_eq!(operation_path(path).unwrap_err().code(), "invalid_path", "{path}");
        }
    }
}
