//! The workspace file's text with a new entry in it.
//!
//! `toml_edit` places the entry next to its toolbox's other entries. Its lines are then put between the file's own
//! lines, so that not even line ends change.

use haft::workspace::{FileDigest, Loaded};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

use super::entry::NewEntry;
use crate::error::Fault;
use crate::terminal::printable;

/// The byte order mark, which is not part of the text.
const MARK: &str = "\u{feff}";

/// A text with lines that were added.
#[derive(Debug)]
pub(super) struct AddedText {
    /// The whole text.
    pub(super) text: String,
    /// The text's lines, without line ends.
    lines: Vec<TextLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TextLine {
    Old(String),
    New(String),
}

impl AddedText {
    /// Reports whether the file was loaded with exactly this text.
    pub(super) fn is_content_of(&self, loaded: &Loaded) -> bool {
        loaded.files.first().is_some_and(|file| file.digest == FileDigest::of(self.text.as_bytes()))
    }

    /// Returns the new lines, each after `+`, below their table's header.
    pub(super) fn diff(&self) -> String {
        let style = anstyle::AnsiColor::Green.on_default();
        let mut runs: Vec<String> = Vec::new();
        let mut header = None;
        for group in self.lines.chunk_by(|left, right| left.is_new() == right.is_new()) {
            if !group[0].is_new() {
                header = group.iter().map(TextLine::text).rfind(|line| line.starts_with('[')).or(header);
                continue;
            }
            let texts: Vec<&str> = group.iter().map(TextLine::text).collect();
            // Blank lines at the ends only separate.
            let is_blank = |line: &&&str| line.trim().is_empty();
            let start = texts.iter().take_while(is_blank).count();
            let end = texts.len() - texts.iter().rev().take_while(is_blank).count();
            let mut run = Vec::new();
            if let Some(header) = header.filter(|_| texts.get(start).is_some_and(|line| !line.starts_with('['))) {
                run.push(format!(" {}", printable(header)));
            }
            let shown = texts.get(start..end).unwrap_or_default();
            run.extend(shown.iter().map(|line| format!("{style}+{}{style:#}", printable(line))));
            runs.push(run.join("\n"));
        }
        runs.join("\n\n")
    }
}

impl TextLine {
    fn is_new(&self) -> bool {
        matches!(self, Self::New(_))
    }

    fn text(&self) -> &str {
        let (Self::Old(text) | Self::New(text)) = self;
        text
    }
}

/// Adds an entry to a loaded file's text.
pub(super) fn add(before: &Loaded, entry: &NewEntry) -> Result<AddedText, Fault> {
    let path = &before.path;
    let bytes = std::fs::read(path).map_err(|error| Fault::file(path, "read", &error))?;
    let is_same = before.files.first().is_some_and(|file| file.digest == FileDigest::of(&bytes));
    let old = String::from_utf8(bytes).ok().filter(|_| is_same);
    let old = old.ok_or_else(|| {
        Fault::new(format!("`{}` has changed while it was read", path.display())).advice("run the command again")
    })?;
    add_to_text(&old, entry)
        .map_err(|reason| Fault::new(format!("the entry can't be added to `{}`: {reason}", path.display())))
}

fn add_to_text(old: &str, entry: &NewEntry) -> Result<AddedText, String> {
    let (mark, text) = old.strip_prefix(MARK).map_or(("", old), |text| (MARK, text));
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    for (name, variable) in &entry.secrets {
        let origin: InlineTable = [("env", variable.as_str())].into_iter().collect();
        let secrets = child(document.as_item_mut(), "secrets", TableHeader::Written)?;
        let secrets = secrets.as_table_like_mut().ok_or("`secrets` is no table")?;
        secrets.insert(name, value(origin));
    }
    for host in entry.private_hosts.allowed() {
        let http = child(document.as_item_mut(), "http", TableHeader::Written)?;
        let http = http.as_table_like_mut().ok_or("`http` is no table")?;
        let hosts = http.entry("allow-hosts").or_insert_with(|| value(Array::new()));
        hosts.as_array_mut().ok_or("`http.allow-hosts` is no array")?.push(host);
    }
    let toolboxes = child(document.as_item_mut(), "toolbox", TableHeader::Implied)?;
    let toolbox = child(toolboxes, entry.namespace.as_str(), TableHeader::Implied)?;
    let entries = child(toolbox, entry.sort.key(), TableHeader::Implied)?;
    insert(entries, entry)?;
    let edited = document.to_string();
    let mut added = spliced(text, &edited).unwrap_or_else(|| AddedText {
        // A table in a single line has become longer.
        lines: edited.lines().map(|line| of_either(line, text)).collect(),
        text: edited,
    });
    added.text.insert_str(0, mark);
    Ok(added)
}

/// Returns a line that is new unless the old text has it.
fn of_either(line: &str, old: &str) -> TextLine {
    if old.lines().any(|known| known == line) { TextLine::Old(line.to_owned()) } else { TextLine::New(line.to_owned()) }
}

/// The header for a table that is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableHeader {
    Written,
    /// The headers of tables below it contain its name.
    Implied,
}

/// Returns a table below another one, creating it if it is missing.
fn child<'t>(parent: &'t mut Item, key: &str, header: TableHeader) -> Result<&'t mut Item, String> {
    let is_inline = is_inline(parent);
    let parent = parent.as_table_like_mut().ok_or_else(|| format!("the parent of `{key}` is no table"))?;
    Ok(parent.entry(key).or_insert_with(|| {
        if is_inline {
            return value(InlineTable::new());
        }
        let mut table = Table::new();
        table.set_implicit(header == TableHeader::Implied);
        table.decor_mut().set_prefix("\n");
        Item::Table(table)
    }))
}

/// Reports whether a table is written without a header, so that its content is too.
fn is_inline(item: &Item) -> bool {
    item.as_table().is_none_or(Table::is_dotted)
}

fn insert(entries: &mut Item, entry: &NewEntry) -> Result<(), String> {
    let is_inline = is_inline(entries);
    let entries = entries.as_table_like_mut().ok_or("the entries of the toolbox are no table")?;
    let mut table = entry.table.clone();
    if is_inline {
        entries.insert(&entry.name, value(table.into_inline_table()));
        return Ok(());
    }
    table.decor_mut().set_prefix("\n");
    if let Some(parameters) = table.get_mut("parameters").and_then(Item::as_table_mut) {
        parameters.decor_mut().set_prefix("\n");
    }
    entries.insert(&entry.name, Item::Table(table));
    Ok(())
}

/// Puts the new lines between the old ones, which stay as they are with their line ends, and in place of those that the
/// new text lacks. Returns `None` if that is not the new text.
fn spliced(old: &str, edited: &str) -> Option<AddedText> {
    let line_end = if old.contains("\r\n") { "\r\n" } else { "\n" };
    let mut remaining = old.split_inclusive('\n').peekable();
    let mut added = AddedText { text: String::with_capacity(edited.len()), lines: Vec::new() };
    let without_end = |line: &str| line.trim_end_matches(['\r', '\n']).to_owned();
    for (at, line) in edited.lines().enumerate() {
        let is_gone = |original: &str| {
            let original = without_end(original);
            original != line && !edited.lines().skip(at).any(|line| line == original)
        };
        remaining.next_if(|original| is_gone(original));
        let is_old = remaining.peek().is_some_and(|original| without_end(original) == line);
        match remaining.next_if(|_| is_old) {
            Some(original) => {
                added.text.push_str(original);
                // The last line may have no end.
                if !original.ends_with('\n') {
                    added.text.push_str(line_end);
                }
                added.lines.push(TextLine::Old(line.to_owned()));
            }
            None => {
                added.text.push_str(line);
                added.text.push_str(line_end);
                added.lines.push(TextLine::New(line.to_owned()));
            }
        }
    }
    remaining.next().is_none().then_some(added)
}

#[cfg(test)]
mod tests {
    use haft::registry::Namespace;

    use super::super::entry::EntrySort;
    use super::super::private_host::PrivateHosts;
    use super::*;

    fn entry(namespace: &str, secret: Option<&str>) -> NewEntry {
        let mut table = Table::new();
        table.insert("kind", value("http"));
        table.insert("url", value("https://api.example/{id}"));
        let mut parameters = Table::new();
        parameters.insert("type", value("object"));
        table.insert("parameters", Item::Table(parameters));
        NewEntry {
            namespace: Namespace::new(namespace).unwrap(),
            name: "read".to_owned(),
            sort: EntrySort::Tool,
            table,
            secrets: secret.map(|name| (name.to_owned(), "API_TOKEN".to_owned())).into_iter().collect(),
            private_hosts: PrivateHosts::Reported,
        }
    }

    /// Texts as people write them: comments anywhere, odd white space, other line ends.
    const TEXTS: [&str; 9] = [
        "",
        "# only a comment",
        "[workspace]\nstandard = true   # yes\n\n\n# the end\n",
        "[toolbox.a.tool.x]\nkind = 'http'\nurl = 'https://a.example'\n\n[permissions]\nallow = ['*']",
        "\u{feff}# mark\r\n[secrets] # here\r\n  old = { env = 'OLD' }\r\n\r\n[toolbox.b.tool.y]\r\nkind = 'http'\r\nurl = 'https://b.example'\r\n",
        "[toolbox.a]\ndescription = 'A.'\n\n# about x\n[toolbox.a.tool.x] # x\nkind='http'\nurl='https://a.example'\n[toolbox.a.tool.x.parameters]\ntype = 'object'\n\n[[approval]]\nask = 'a/*'\n",
        "[toolbox.z.tool.read]\nkind = 'http'\nurl = 'https://api.example/{id}'\n\n[toolbox.z.tool.read.parameters]\ntype = \"object\"\n\n# last",
        "\n\n   \n[limits]\n\ttimeout = 1\n",
        "[a]\r\nb = 1\n[c]\nd = \"\"\"\r\nx\r\n\"\"\"\n",
    ];

    #[test]
    fn old_lines_stay_as_they_are_byte_for_byte() {
        for old in TEXTS {
            for (namespace, secret) in [("a", None), ("new", None), ("b", Some("api"))] {
                let added = add_to_text(old, &entry(namespace, secret)).unwrap();
                let mut lines = added.text.split_inclusive('\n');
                let kept: String = added
                    .lines
                    .iter()
                    .map(|line| (line, lines.next().unwrap()))
                    .filter(|(line, _)| !line.is_new())
                    .map(|(_, text)| text)
                    .collect();
                // Only the last line's end may have been missing.
                assert_eq!(kept.trim_end_matches(['\r', '\n']), old.trim_end_matches(['\r', '\n']), "{namespace}");
                let document: DocumentMut = added.text.trim_start_matches(MARK).parse().unwrap();
                let url = &document["toolbox"][namespace]["tool"]["read"]["url"];
                assert_eq!(url.as_str(), Some("https://api.example/{id}"), "{}", added.text);
                assert_eq!(secret.is_some(), document.get("secrets").is_some_and(|all| all.get("api").is_some()));
            }
        }
    }

    #[test]
    fn inline_and_dotted_tables_get_the_entry_too() {
        for old in [
            "toolbox = { a = { tool = { x = { kind = 'http', url = 'https://a.example' } } } }\n",
            "[toolbox.a]\ntool.x = { kind = 'http', url = 'https://a.example' }\n",
            "toolbox.a.tool.x.kind = 'http'\n",
        ] {
            let added = add_to_text(old, &entry("a", None)).unwrap();
            let document: DocumentMut = added.text.parse().unwrap();
            let tools = &document["toolbox"]["a"]["tool"];
            assert!(tools["x"]["kind"].is_str() && tools["read"]["url"].is_str(), "{}", added.text);
            assert!(added.diff().contains("api.example"), "{}", added.diff());
        }
    }

    #[test]
    fn private_hosts_are_added_to_those_that_are_allowed() {
        for (old, expected) in [
            ("", "allow-hosts = [\"localhost:1\"]"),
            ("[http]\nonly-hosts = ['a.example']\n", "allow-hosts = [\"localhost:1\"]"),
            ("[http]\nallow-hosts = ['b:2'] # b\n", "allow-hosts = ['b:2', \"localhost:1\"] # b"),
        ] {
            let mut entry = entry("a", None);
            entry.private_hosts = PrivateHosts::Allowed(vec!["localhost:1".to_owned()]);
            let added = add_to_text(old, &entry).unwrap();
            assert!(added.text.contains(expected) && added.diff().contains("+allow-hosts"), "{}", added.text);
        }
    }

    #[test]
    fn the_difference_has_the_header_of_its_table() {
        let old = "[secrets]\nold = { env = 'OLD' }\n\n[toolbox.a.tool.x]\nkind = 'http'\nurl = 'https://a.example'\n\n# end\n";
        let added = add_to_text(old, &entry("a", Some("api"))).unwrap();
        insta::assert_snapshot!(anstream::adapter::strip_str(&added.diff()));
    }
}
