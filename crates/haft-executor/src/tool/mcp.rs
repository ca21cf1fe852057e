//! Tools as MCP servers list them.
//!
//! A server is another program, so nothing of its form is believed before it was checked, and every fault is reported
//! with its JSON Pointer: a client sets such a tool aside and shows the reason. What haft has no setting for is kept as
//! [`McpMembers`], and never acted on.

use std::borrow::Cow;

use haft_core::{
    Annotations, Destructive, Icon, IconTheme, Icons, Idempotent, McpMembers, Meta, OpenWorld, Readonly, Title,
};
use haft_schema::{Issue, Schema};
use serde_json::{Map, Value};

use crate::tool::draft::ToolDraft;
use crate::tool::rebuild::add;
use crate::tool::{DefinitionError, DefinitionFault, SchemaPart, Tool, ToolKind};

impl Tool {
    /// Creates a dynamic tool from its MCP form: an element of the `tools` that a server lists.
    ///
    /// It keeps every member: `name`, `title`, `description`, `inputSchema`, `outputSchema`, `annotations`, `icons` and
    /// `_meta` as haft's own settings, and all others, such as `execution`, as [`McpMembers`]. A member that is `null`
    /// counts as absent. Arguments are checked by `inputSchema`, and results by `outputSchema` if there is one. Attach a
    /// handler next, usually one that [forwards](Tool::with_forward) the calls to the server.
    ///
    /// The error lists all faults, each with its place, such as `/annotations/readOnlyHint`.
    ///
    /// ```
    /// use haft_executor::Tool;
    /// use serde_json::json;
    ///
    /// let search = Tool::from_mcp(&json!({
    ///     "name": "search",
    ///     "description": "Searches the archive.",
    ///     "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    ///     "annotations": {"readOnlyHint": true},
    /// }))?;
    /// assert!(search.is_dynamic() && search.annotations().readonly());
    ///
    /// let faulty = json!({"name": "search", "inputSchema": {"type": "array"}, "annotations": {"readOnlyHint": "yes"}});
    /// assert_eq!(Tool::from_mcp(&faulty).unwrap_err().to_string(), concat!(
    ///     "the definition of the tool `search` is invalid: ",
    ///     "/inputSchema/type: MCP arguments are an object: write `object`, not \"array\"; ",
    ///     "/annotations/readOnlyHint: must be true or false, not the text \"yes\"",
    /// ));
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn from_mcp(tool: &Value) -> Result<Self, DefinitionError> {
        let Value::Object(members) = tool else {
            let issue =
                Issue::new("", "type", format!("must be an object with `name` and `inputSchema`, not {}", found(tool)));
            return Err(DefinitionError { tool: String::new(), faults: vec![DefinitionFault::Member(issue)] });
        };
        let mut form = UnreadMembers { at: "", unread: Cow::Borrowed(members), issues: Vec::new() };
        let name = form.name();
        let description = form.text("description");
        let input = form.input_schema();
        let output = form.take("outputSchema");
        let annotations = form.annotations();
        let mut draft = ToolDraft::new(name.clone().unwrap_or_default(), ToolKind::Dynamic);
        draft.description = description;
        draft.annotations = annotations;
        draft.faults = form.issues.into_iter().map(DefinitionFault::Member).collect();
        if let Some(input) = input {
            draft.set_schema(SchemaPart::Parameters, Schema::json(input));
        }
        if let Some(output) = output {
            draft.set_schema(SchemaPart::Success, Schema::json(output));
        }
        if name.is_some() {
            return draft.finish(None);
        }
        // An absent name is reported, and that it is empty would repeat it.
        Err(DefinitionError { tool: String::new(), faults: draft.faults })
    }
}

/// An object's members that were not read yet, and the faults of those that were.
struct UnreadMembers<'a> {
    /// The object's JSON Pointer.
    at: &'a str,
    unread: Cow<'a, Map<String, Value>>,
    issues: Vec<Issue>,
}

impl UnreadMembers<'_> {
    fn name(&mut self) -> Option<String> {
        match self.take("name") {
            Some(Value::String(name)) => return Some(name),
            Some(other) => self.reject("name", "must be a text", &other),
            None if self.unread.contains_key("tools") || self.unread.contains_key("result") => {
                let message = "is missing; this is a list of tools: pass each element of its `tools`";
                self.issues.push(Issue::new("/name", "required", message));
            }
            None => self.issues.push(Issue::new("/name", "required", "is missing; an MCP tool has a `name`")),
        }
        None
    }

    fn input_schema(&mut self) -> Option<Value> {
        let Some(schema) = self.take("inputSchema") else {
            let message = r#"is missing; for a tool without arguments it is `{"type": "object"}`"#;
            self.issues.push(Issue::new("/inputSchema", "required", message));
            return None;
        };
        let Some(members) = schema.as_object() else {
            self.reject("inputSchema", "must be a JSON Schema as an object", &schema);
            return None;
        };
        let is_object = |kind: &Value| match kind {
            Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
            kind => kind == "object",
        };
        if let Some(kind) = members.get("type").filter(|kind| !is_object(kind)) {
            let message = format!("MCP arguments are an object: write `object`, not {}", excerpt(kind));
            self.issues.push(Issue::new("/inputSchema/type", "type", message));
            return None;
        }
        Some(schema)
    }

    fn annotations(&mut self) -> Annotations {
        let mut annotations = Annotations::new();
        let title = self.text("title");
        let hints = self.object("annotations").unwrap_or_default();
        let mut hints =
            UnreadMembers { at: "/annotations", unread: Cow::Owned(hints), issues: std::mem::take(&mut self.issues) };
        annotations = add(annotations, hints.flag("readOnlyHint").map(Readonly));
        annotations = add(annotations, hints.flag("destructiveHint").map(Destructive));
        annotations = add(annotations, hints.flag("idempotentHint").map(Idempotent));
        annotations = add(annotations, hints.flag("openWorldHint").map(OpenWorld));
        // The tool's own title is for people as well, and comes first.
        let own_title = hints.text("title");
        annotations = add(annotations, title.or_else(|| own_title.clone()).map(Title));
        self.issues = hints.issues;
        let mut other_hints = hints.unread.into_owned();
        other_hints.extend(own_title.map(|title| ("title".to_owned(), title.into())));

        annotations = add(annotations, self.icons().map(Icons));
        annotations = add(annotations, self.object("_meta").map(Meta));
        let mut others: Map<String, Value> = self.unread.as_ref().clone();
        if !other_hints.is_empty() {
            others.insert("annotations".to_owned(), other_hints.into());
        }
        add(annotations, (!others.is_empty()).then_some(McpMembers(others)))
    }

    fn icons(&mut self) -> Option<Vec<Icon>> {
        let icons = match self.take("icons")? {
            Value::Array(icons) => icons,
            other => {
                self.reject("icons", "must be a list of icons", &other);
                return None;
            }
        };
        let mut whole = true;
        let mut read = Vec::with_capacity(icons.len());
        for (index, icon) in icons.iter().enumerate() {
            let at = format!("/icons/{index}");
            let Value::Object(members) = icon else {
                let message = format!("must be an object with `src`, not {}", found(icon));
                self.issues.push(Issue::new(at, "type", message));
                continue;
            };
            let issues = std::mem::take(&mut self.issues);
            let mut form = UnreadMembers { at: &at, unread: Cow::Borrowed(members), issues };
            read.extend(form.icon());
            whole &= form.unread.is_empty();
            self.issues = form.issues;
        }
        if !whole {
            self.unread.to_mut().insert("icons".to_owned(), icons.into());
        }
        (!read.is_empty()).then_some(read)
    }

    fn icon(&mut self) -> Option<Icon> {
        let src = self.text("src");
        if src.is_none() && !self.issues.iter().any(|issue| issue.pointer == format!("{}/src", self.at)) {
            let message = "is missing; an icon has the address of an image";
            self.issues.push(Issue::new(format!("{}/src", self.at), "required", message));
        }
        let mut icon = Icon::new(src?);
        icon.mime_type = self.text("mimeType");
        icon.sizes = match self.take("sizes") {
            None => Vec::new(),
            // As the protocol had it at first.
            Some(Value::String(sizes)) => sizes.split_whitespace().map(str::to_owned).collect(),
            Some(sizes) => serde_json::from_value(sizes.clone()).unwrap_or_else(|_| {
                let message = format!("must be a list of texts such as `48x48`, not {}", excerpt(&sizes));
                self.issues.push(Issue::new(format!("{}/sizes", self.at), "type", message));
                Vec::new()
            }),
        };
        match self.text("theme").as_deref() {
            None => {}
            Some("light") => icon.theme = Some(IconTheme::Light),
            Some("dark") => icon.theme = Some(IconTheme::Dark),
            Some(unknown) => drop(self.unread.to_mut().insert("theme".to_owned(), unknown.into())),
        }
        Some(icon)
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            other => {
                self.reject(name, "must be a text", &other);
                None
            }
        }
    }

    fn flag(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(flag) => Some(flag),
            other => {
                self.reject(name, "must be true or false", &other);
                None
            }
        }
    }

    fn object(&mut self, name: &str) -> Option<Map<String, Value>> {
        match self.take(name)? {
            Value::Object(members) => Some(members),
            other => {
                self.reject(name, "must be an object", &other);
                None
            }
        }
    }

    /// Removes a member. One that is `null` counts as absent.
    fn take(&mut self, name: &str) -> Option<Value> {
        if !self.unread.contains_key(name) {
            return None;
        }
        self.unread.to_mut().shift_remove(name).filter(|member| !member.is_null())
    }

    fn reject(&mut self, name: &str, rule: &str, member: &Value) {
        let pointer = format!("{}/{name}", self.at);
        self.issues.push(Issue::new(pointer, "type", format!("{rule}, not {}", found(member))));
    }
}

/// Returns a short description of a value of the wrong type.
fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(_) => format!("the number {}", excerpt(value)),
        Value::String(_) => format!("the text {}", excerpt(value)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Returns the beginning of a value's JSON.
fn excerpt(value: &Value) -> String {
    const MOST: usize = 40;
    let text = value.to_string();
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).chain(['…']).collect() }
}
