//! A new entry: the keys that are written.

use std::path::{Component, Path, PathBuf};

use haft::registry::{FullName, Namespace, SimpleName, ToolOrigin};
use haft::tools::command::CommandTool;
use haft::tools::http::UrlTemplate;
use haft::workspace::{Loaded, LoadedEntry, SetAsideEntry};
use toml_edit::{Array, InlineTable, Table, Value, value};

use super::parameter::ParameterSpec;
use super::private_host::PrivateHosts;
use super::{AddKind, CommandArguments, HttpArguments, OpenapiArguments, ToolOptions, auth};
use crate::error::Fault;

/// The default import name.
const DEFAULT_IMPORT: &str = "api";

/// The similarity from which a name may be misspelt.
const LEAST_SIMILAR: f64 = 0.8;

/// An entry that is added.
#[derive(Debug)]
pub(super) struct NewEntry {
    pub(super) namespace: Namespace,
    pub(super) name: String,
    pub(super) sort: EntrySort,
    /// The entry's keys.
    pub(super) table: Table,
    /// The secrets to add to the file, each with the environment variable that it is read from.
    pub(super) secrets: Vec<(String, String)>,
    pub(super) private_hosts: PrivateHosts,
}

/// An entry's sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntrySort {
    Tool,
    Import,
}

impl EntrySort {
    /// Returns the toolbox key that holds entries of this sort.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Import => "import",
        }
    }
}

impl NewEntry {
    /// Reports whether the entry is a server behind a URL without any authentication.
    pub(super) fn may_log_in(&self) -> bool {
        self.table.contains_key("url") && !self.table.contains_key("auth")
    }

    /// Lets the person log in with a browser.
    pub(super) fn log_in(&mut self) {
        self.table.insert("auth", value("oauth"));
    }

    pub(super) fn new(kind: &AddKind, before: &Loaded) -> Result<Self, Fault> {
        match kind {
            AddKind::Mcp(arguments) => super::server::entry(arguments, before),
            AddKind::Http(arguments) => Self::http(arguments, before),
            AddKind::Openapi(arguments) => Self::openapi(arguments, before),
            AddKind::Command(arguments) => Self::command(arguments),
        }
    }

    /// Returns the name for messages.
    pub(super) fn shown_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// Reports whether an entry in the file at `path` has this one's name.
    pub(super) fn is_like(&self, known: &LoadedEntry, path: &Path) -> bool {
        let of_project = |name: &FullName| *name.origin() == ToolOrigin::Project(self.namespace.clone());
        match self.sort {
            EntrySort::Tool => known.tools.iter().any(|name| of_project(name) && name.tool().as_str() == self.name),
            EntrySort::Import => {
                *known.path == *path && known.key == format!("toolbox.{}.import.{}", self.namespace, self.name)
            }
        }
    }

    /// Reports whether an entry that is set aside in the file at `path` has this one's name.
    pub(super) fn is_set_aside(&self, known: &SetAsideEntry, path: &Path) -> bool {
        let key = format!("toolbox.{}.{}.{}", self.namespace, self.sort.key(), self.name);
        *known.path == *path && known.key == key
    }

    fn http(arguments: &HttpArguments, before: &Loaded) -> Result<Self, Fault> {
        let HttpArguments { name, url, method, header, query, auth, allow_private, tool } = arguments;
        let (namespace, name) = tool_name(name)?;
        let template: UrlTemplate = url.parse().map_err(|error| {
            Fault::new(format!("the URL `{url}` is invalid")).cause(&error as &haft::tools::http::UrlTemplateError)
        })?;
        let mut table = started("http", tool);
        table.insert("url", value(url));
        if let Some(method) = method.as_deref().filter(|method| !method.eq_ignore_ascii_case("GET")) {
            table.insert("method", value(method.to_ascii_uppercase()));
        }
        let headers = pairs(header, ':', "--header", "accept: application/json")?;
        let query = pairs(query, '=', "--query", "per_page=50")?;
        let mut variables: Vec<String> =
            template.path_variables().chain(template.query_variables()).map(str::to_owned).collect();
        for (key, pairs) in [("query", &query), ("headers", &headers)] {
            if !pairs.is_empty() {
                table.insert(
                    key,
                    value(pairs.iter().map(|(name, text)| (*name, text.clone())).collect::<InlineTable>()),
                );
                variables.extend(pairs.iter().filter_map(|(_, text)| placeholder(text)));
            }
        }
        let (auth, secrets) = auth.read(before)?;
        if !auth.is_empty() {
            table.insert("auth", value(auth));
        }
        finish(&mut table, tool, variables);
        let private_hosts = PrivateHosts::of(*allow_private);
        Ok(Self { namespace, name, sort: EntrySort::Tool, table, secrets, private_hosts })
    }

    fn command(arguments: &CommandArguments) -> Result<Self, Fault> {
        let CommandArguments { name, tool, argv } = arguments;
        let (namespace, name) = tool_name(name)?;
        let mut table = started("command", tool);
        table.insert("command", value(argv.iter().map(String::as_str).collect::<Array>()));
        let defaults = CommandTool::new(argv.iter().map(String::as_str)).default_parameters();
        let variables = defaults["properties"].as_object().into_iter().flat_map(serde_json::Map::keys).cloned();
        finish(&mut table, tool, variables.collect());
        let private_hosts = PrivateHosts::Reported;
        Ok(Self { namespace, name, sort: EntrySort::Tool, table, secrets: Vec::new(), private_hosts })
    }

    fn openapi(arguments: &OpenapiArguments, before: &Loaded) -> Result<Self, Fault> {
        let OpenapiArguments { name, file, tag, method, base_url, security, allow_private, approve } = arguments;
        let (namespace, import) = name.split_once('/').unwrap_or((name, DEFAULT_IMPORT));
        let namespace = Namespace::new(namespace).map_err(|error| invalid_name(name, &error))?;
        let import = SimpleName::new(import).map_err(|error| invalid_name(name, &error))?.to_string();
        let mut table = Table::new();
        table.insert("kind", value("openapi"));
        table.insert("file", value(relative(file, before)?));
        for (key, values) in [("tags", tag), ("methods", method)] {
            if !values.is_empty() {
                table.insert(key, value(values.iter().map(String::as_str).collect::<Array>()));
            }
        }
        if let Some(base_url) = base_url {
            table.insert("base-url", value(base_url));
        }
        let (security, secrets) = auth::security(security, before)?;
        if !security.is_empty() {
            table.insert("security", value(security));
        }
        if *approve {
            table.insert("approval", value("always"));
        }
        let private_hosts = PrivateHosts::of(*allow_private);
        Ok(Self { namespace, name: import, sort: EntrySort::Import, table, secrets, private_hosts })
    }
}

/// Starts a tool's keys.
fn started(kind: &str, tool: &ToolOptions) -> Table {
    let mut table = Table::new();
    table.insert("kind", value(kind));
    if let Some(description) = &tool.description {
        table.insert("description", value(description));
    }
    table
}

/// Adds a tool's hints and parameters: the placeholders' in order, then the others.
fn finish(table: &mut Table, tool: &ToolOptions, variables: Vec<String>) {
    if tool.readonly {
        table.insert("readonly", value(true));
    }
    if tool.approve {
        table.insert("approval", value("always"));
    }
    if tool.export {
        table.insert("export", value(true));
    }
    let mut specs: Vec<ParameterSpec> = Vec::new();
    for variable in variables {
        if !specs.iter().any(|spec| spec.name == variable) {
            let given = tool.params.iter().find(|spec| spec.name == variable).cloned();
            specs.push(given.unwrap_or_else(|| ParameterSpec::string(variable)));
        }
    }
    for spec in &tool.params {
        if !specs.iter().any(|known| known.name == spec.name) {
            specs.push(spec.clone());
        }
    }
    if !specs.is_empty() {
        table.insert("parameters", toml_edit::Item::Table(parameters(&specs)));
    }
}

/// Returns the parameters' JSON Schema.
fn parameters(specs: &[ParameterSpec]) -> Table {
    let mut properties = Table::new();
    properties.set_dotted(true);
    for spec in specs {
        properties.insert(&spec.name, value(spec.schema()));
    }
    let required: Array = specs.iter().filter(|spec| spec.is_required).map(|spec| spec.name.as_str()).collect();
    let mut schema = Table::new();
    schema.insert("type", value("object"));
    schema.insert("properties", toml_edit::Item::Table(properties));
    if !required.is_empty() {
        schema.insert("required", value(required));
    }
    schema.insert("additionalProperties", value(false));
    schema
}

/// Reads the name of a project tool.
fn tool_name(name: &str) -> Result<(Namespace, String), Fault> {
    let full: FullName = name.parse().map_err(|error: haft::registry::NameError| invalid_name(name, &error))?;
    match full.origin() {
        ToolOrigin::Project(namespace) => Ok((namespace.clone(), full.tool().to_string())),
        ToolOrigin::Internal => Err(Fault::new(format!("`{name}` has no toolbox"))
            .advice(format!("write `toolbox/tool`, such as `dev/{}`", full.tool()))),
        _ => Err(Fault::new(format!("`{name}` is the name of a tool of an organisation"))
            .advice("write `toolbox/tool`; tools of an organisation are added in its own file")),
    }
}

pub(super) fn invalid_name(name: &str, error: &dyn std::error::Error) -> Fault {
    Fault::new(format!("`{name}` can't be the name of a tool"))
        .cause(error)
        .advice("write `toolbox/tool`, such as `github/issues`")
}

/// Splits options such as `name=value`.
pub(super) fn pairs<'t>(
    texts: &'t [String],
    at: char,
    option: &str,
    example: &str,
) -> Result<Vec<(&'t str, Value)>, Fault> {
    let split = |text: &'t String| match text.split_once(at) {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim(), Value::from(value.trim()))),
        _ => {
            Err(Fault::new(format!("`{option} {text}` has no `{at}`")).advice(format!("write `{option} '{example}'`")))
        }
    };
    texts.iter().map(split).collect()
}

/// Returns the parameter that a value stands for.
fn placeholder(value: &Value) -> Option<String> {
    Some(value.as_str()?.strip_prefix('{')?.strip_suffix('}')?.to_owned())
}

/// Returns the secret to add to the file, or `None` if the file has it. `option` is what the person wrote before the name.
pub(super) fn new_secret(
    option: &str,
    name: &str,
    variable: Option<&str>,
    before: &Loaded,
) -> Result<Option<(String, String)>, Fault> {
    match (before.secrets.contains(name), variable) {
        (false, Some(variable)) => Ok(Some((name.to_owned(), variable.to_owned()))),
        (true, None) => Ok(None),
        (true, Some(_)) => Err(Fault::new(format!("the secret `{name}` exists already"))
            .advice(format!("write `{option}{name}` to use it, or choose another name"))),
        (false, None) => {
            let close = before.secrets.names().find(|known| strsim::jaro_winkler(known, name) >= LEAST_SIMILAR);
            let fault = Fault::new(format!("the secret `{name}` is not defined"))
                .advice(format!("write `{option}{name}=VARIABLE` to define it by an environment variable"));
            Err(match close {
                Some(close) => fault.advice(format!("or did you mean `{close}`?")),
                None => fault,
            })
        }
    }
}

/// Returns a file's path as the workspace file refers to it.
fn relative(file: &Path, before: &Loaded) -> Result<String, Fault> {
    let folder = before.path.parent().unwrap_or(Path::new("/"));
    let absolute = std::fs::canonicalize(file).map_err(|error| Fault::file(file, "read", &error))?;
    let inside = absolute.strip_prefix(folder).map_err(|_| {
        Fault::new(format!("`{}` is not below `{}`", file.display(), folder.display()))
            .advice("copy the document into the folder of the workspace file")
    })?;
    let parts: Option<Vec<&str>> = inside
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let parts = parts
        .ok_or_else(|| Fault::new(format!("the path `{}` is not Unicode text", file.display())).advice("rename it"))?;
    Ok(PathBuf::from_iter(parts).to_string_lossy().replace('\\', "/"))
}
