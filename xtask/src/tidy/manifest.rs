//! The rule that every package takes its lints from the workspace.

use super::breach::Breach;

/// Checks that a manifest which describes a package inherits the lints; one that only describes a workspace has none.
pub(super) fn check(path: &str, text: &str) -> Vec<Breach> {
    let mut section = "";
    let (mut package, mut inherits) = (false, false);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
            package |= section == "[package]";
        } else if section == "[lints]" && line.replace(' ', "") == "workspace=true" {
            inherits = true;
        }
    }
    let breach = || Breach::new(path, 1, "the package must inherit its lints: `[lints]` with `workspace = true`");
    (package && !inherits).then(breach).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_package_inherits_its_lints() {
        assert!(check("Cargo.toml", "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n").is_empty());
        assert_eq!(check("Cargo.toml", "[package]\nname = \"a\"\nworkspace = true\n").len(), 1);
        assert_eq!(check("Cargo.toml", "[package]\n[lints]\nworkspace = false\n").len(), 1);
        assert!(check("Cargo.toml", "[workspace]\nmembers = []\n").is_empty());
    }
}
