//! The tool names that a misspelt or shortened name may mean.

use std::collections::BTreeMap;

use haft_schema::nearest;

use crate::name::FullName;

/// The maximum number of names.
const SIMILAR: usize = 3;

/// The fewest letters that a shortened name has.
const SHORTEST: usize = 3;

/// Returns similar full names, the most similar first: tools with exactly the requested name, else similar spellings,
/// else tools of which it is the beginning of a word.
pub(crate) fn of<'n>(name: &str, names: impl Iterator<Item = &'n FullName> + Clone) -> Vec<FullName> {
    let asked = name.rsplit('/').next().unwrap_or(name);
    let same_tool: Vec<_> =
        names.clone().filter(|known| known.tool().as_str() == asked).take(SIMILAR).cloned().collect();
    if !same_tool.is_empty() {
        return same_tool;
    }
    let shortened = names.clone().filter(|known| is_short_for(asked, known.tool().as_str())).take(SIMILAR);
    let texts: BTreeMap<String, &FullName> = names.map(|known| (known.to_string(), known)).collect();
    let found = nearest(name, texts.keys().map(String::as_str));
    if found.is_empty() {
        return shortened.cloned().collect();
    }
    found.into_iter().filter_map(|text| texts.get(text)).map(|known| (*known).clone()).collect()
}

/// Reports whether a tool's name has a word that begins with this one: `calc` and `read` for `calculate` and `file_read`.
fn is_short_for(asked: &str, tool: &str) -> bool {
    let begins = |text: &str| text.get(..asked.len()).is_some_and(|start| start.eq_ignore_ascii_case(asked));
    asked.len() >= SHORTEST && (begins(tool) || tool.split(['_', '-', '.']).any(begins))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortened_name_means_the_tools_with_such_a_word() {
        let names: Vec<FullName> =
            ["calculate", "file_read", "shop/read-all", "now"].map(|n| n.parse().unwrap()).into();
        let found = |name| of(name, names.iter()).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(found("calc"), ["calculate"]);
        assert_eq!(found("Read"), ["file_read", "shop/read-all"]);
        assert_eq!(found("shop/rea"), ["file_read", "shop/read-all"]);
        // Misspelt names go first, and two letters mean nothing.
        assert_eq!(found("nov"), ["now"]);
        assert!(found("ca").is_empty() && found("culate").is_empty() && found("").is_empty());
    }
}
