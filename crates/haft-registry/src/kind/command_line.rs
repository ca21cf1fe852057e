//! Command lines as people read them.

use serde_json::Value;

/// Returns a program and its arguments on one line for a person. It is not meant for a shell: what a shell would split
/// or expand is quoted as JSON.
///
/// ```
/// assert_eq!(haft_registry::command_line(["rg", "two words", "$HOME"]), r#"rg "two words" "$HOME""#);
/// ```
#[must_use]
pub fn command_line<'a>(argv: impl IntoIterator<Item = &'a str>) -> String {
    let element = |element: &str| {
        let is_plain = !element.is_empty() && !element.contains(|c: char| c.is_whitespace() || "\"'\\$`".contains(c));
        if is_plain { element.to_owned() } else { Value::from(element).to_string() }
    };
    argv.into_iter().map(element).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::command_line;

    #[test]
    fn elements_that_a_shell_would_split_or_expand_are_quoted() {
        let argv = ["rg", "", "two  words", "line\nend", "it's", "$HOME", "--json", "{pattern}"];
        assert_eq!(command_line(argv), r#"rg "" "two  words" "line\nend" "it's" "$HOME" --json {pattern}"#);
    }
}
