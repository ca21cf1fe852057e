//! Suggestions of tools, for a name that no tool has.

use haft_schema::internal::{SUGGESTED, ranked};

use crate::tool_name::NAMESPACE_SEPARATOR;

/// Returns the tool names closest to `name` among `candidates`, with or without their namespace, best first and three at
/// most; none if no name is close.
///
/// ```
/// let names = ["github__search", "wiki__search", "fetch"];
/// assert_eq!(haft_core::nearest_tools("serach", names.into_iter()), ["github__search", "wiki__search"]);
/// ```
pub fn nearest_tools<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut near = ranked_tools(name, candidates.map(|candidate| (candidate, candidate)));
    near.truncate(SUGGESTED);
    near
}

/// Returns everything whose tool name is close to `name`, best first.
pub fn ranked_tools<'a, T>(name: &str, candidates: impl Iterator<Item = (&'a str, T)>) -> Vec<T> {
    let (names, mut tools): (Vec<&str>, Vec<Option<T>>) = candidates.map(|(name, tool)| (name, Some(tool))).unzip();
    let spellings = names.iter().enumerate().flat_map(|(index, name)| {
        let bare = name.rsplit_once(NAMESPACE_SEPARATOR).map(|(_, bare)| bare);
        [Some(*name), bare].into_iter().flatten().map(move |spelling| (spelling, index))
    });
    // Both spellings of a name may be close: the closer one counts.
    ranked(name, spellings).into_iter().filter_map(|index| tools[index].take()).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest_tools;

    #[test]
    fn a_name_without_its_namespace_is_found() {
        let names = ["github__search", "wiki__search", "github__issues"];
        assert_eq!(nearest_tools("search", names.into_iter()), ["github__search", "wiki__search"]);
        assert_eq!(nearest_tools("serach", names.into_iter()), ["github__search", "wiki__search"]);
        assert_eq!(nearest_tools("github__serch", names.into_iter()), ["github__search"]);
        let too_long_with_its_prefix = format!("{}__search", "p".repeat(200));
        assert_eq!(nearest_tools("serach", [&*too_long_with_its_prefix].into_iter()), [&*too_long_with_its_prefix]);
    }
}
