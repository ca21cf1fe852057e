//! Names of tools here for names that servers gave.
//!
//! A name depends on the server's name alone, unless the file sets another, so a tool that comes or goes changes no
//! other tool's name.

use std::collections::BTreeMap;

use haft_registry::{EntryError, EntryFault, SimpleName};

use crate::openapi::plain_name;

/// Returns the tools' names, in the same order.
pub(super) fn tool_names<'n>(
    servers: impl Iterator<Item = &'n str>,
    renamed: &BTreeMap<String, String>,
) -> Result<Vec<String>, EntryError> {
    let mut faults = Vec::new();
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    let mut names = Vec::new();
    for server in servers {
        let name = match renamed.get(server) {
            Some(chosen) => chosen.clone(),
            None => plain_name(server),
        };
        if let Err(error) = SimpleName::new(name.as_str()) {
            faults.push(EntryFault::at("/rename", error.to_string()));
        }
        if let Some(other) = taken.insert(name.to_ascii_lowercase(), server) {
            let message =
                format!("the tools `{other}` and `{server}` would both be named `{name}`; rename one of them");
            faults.push(EntryFault::at("/rename", message));
        }
        names.push(name);
    }
    EntryError::check(faults)?;
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(servers: &[&str], renamed: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let renamed = renamed.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        tool_names(servers.iter().copied(), &renamed).map_err(|error| error.to_string())
    }

    #[test]
    fn plain_names_stay_and_others_are_encoded() {
        let made = names(&["read_file", "get.Time", "find all", "-x", "ü"], &[("get.Time", "now")]).unwrap();
        assert_eq!((made[0].as_str(), made[1].as_str()), ("read_file", "now"));
        assert!(made[2].starts_with("find_all_") && made[3].starts_with("x_") && made[4].starts_with("x_"), "{made:?}");
        assert_eq!(names(&["find all"], &[]).unwrap()[0], made[2], "other tools change no name");
        assert_ne!(names(&["find_all", "find all"], &[]).unwrap()[0], made[2]);
    }

    #[test]
    fn equal_and_invalid_names_are_faults() {
        assert!(names(&["a", "b"], &[("a", "B")]).unwrap_err().contains("would both be named `b`"));
        assert!(names(&["a"], &[("a", "x/y")]).unwrap_err().contains("contains a slash"));
    }
}
