//! The tool names that a misspelt name may mean.

use std::collections::BTreeMap;

use haft_schema::nearest;

use crate::name::FullName;

/// The maximum number of names.
const SIMILAR: usize = 3;

/// Returns similar full names, the most similar first: tools with exactly the requested name, then similar spellings.
pub(crate) fn of<'n>(name: &str, names: impl Iterator<Item = &'n FullName> + Clone) -> Vec<FullName> {
    let asked = name.rsplit('/').next().unwrap_or(name);
    let same_tool: Vec<_> =
        names.clone().filter(|known| known.tool().as_str() == asked).take(SIMILAR).cloned().collect();
    if !same_tool.is_empty() {
        return same_tool;
    }
    let texts: BTreeMap<String, &FullName> = names.map(|known| (known.to_string(), known)).collect();
    let found = nearest(name, texts.keys().map(String::as_str));
    found.into_iter().filter_map(|text| texts.get(text)).map(|known| (*known).clone()).collect()
}
