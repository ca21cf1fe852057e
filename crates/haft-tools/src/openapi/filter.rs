//! Filters: which operations are imported.

/// Conditions that an operation must all meet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) tags: Selected,
    pub(super) paths: Selected,
    pub(super) operations: Selected,
    pub(super) methods: Selected,
}

/// Patterns for texts to include and exclude. An excluded text is never included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selected {
    included: Vec<String>,
    excluded: Vec<String>,
}

/// An operation's texts that filters read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) tags: &'a [&'a str],
    pub(super) path: &'a str,
    pub(super) id: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) method: &'a str,
}

impl Filter {
    pub(super) fn accepts(&self, candidate: Candidate<'_>) -> bool {
        let Candidate { tags, path, id, name, method } = candidate;
        let ids = [id.unwrap_or(name), name];
        self.methods.accepts(&[method])
            && self.tags.accepts(tags)
            && self.operations.accepts(&ids)
            && self.paths.accepts(&[path])
    }
}

impl Selected {
    pub(crate) fn include(&mut self, pattern: impl Into<String>) {
        self.included.push(pattern.into());
    }

    pub(crate) fn exclude(&mut self, pattern: impl Into<String>) {
        self.excluded.push(pattern.into());
    }

    /// Reports whether one of these texts is included and none is excluded. Without patterns everything is included.
    pub(crate) fn accepts(&self, texts: &[&str]) -> bool {
        let any = |patterns: &[String]| texts.iter().any(|text| patterns.iter().any(|pattern| matches(pattern, text)));
        (self.included.is_empty() || any(&self.included)) && !any(&self.excluded)
    }
}

/// Reports whether a text matches a pattern, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        // The first match leaves most for the parts that follow.
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{Selected, matches};

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("/pets", "/pets", true),
            ("/pets", "/pets/1", false),
            ("/pets*", "/pets/1/toys", true),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("*/toys", "/pets/1/toys", true),
            ("/a*b*c", "/a-b-c", true),
            ("/a*b*c", "/a-c-b", false),
            ("/a*a", "/a", false),
            ("**", "x", true),
            ("a*é*z", "a-é-z", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn an_excluded_text_is_never_included() {
        let mut selected = Selected::default();
        assert!(selected.accepts(&[]) && selected.accepts(&["a"]));
        selected.include("a*");
        assert!(!selected.accepts(&[]) && selected.accepts(&["b", "ab"]) && !selected.accepts(&["b"]));
        selected.exclude("ab");
        assert!(!selected.accepts(&["a", "ab"]) && selected.accepts(&["a"]));
    }
}
