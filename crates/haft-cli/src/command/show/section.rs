//! One tool's page, section by section.

use std::sync::Arc;
use std::time::Duration;

use haft::registry::{CallEffect, CallPreview};
use haft::tool::{Concurrency, ExecutionLimits, ToolDescriptor};
use haft::wire::{Finding, FindingKind, RenderedTools, Severity, ToolMode};
use haft::workspace::Loaded;
use serde_json::{Value, json};

use super::access::ToolAccess;
use super::{indented, parameter_tree};
use crate::command::tools::ToolListing;
use crate::terminal::printable;
use crate::wire::ProfileName;
use crate::workspace::OpenWorkspace;

/// Everything about one tool.
pub(super) struct ToolPage<'w> {
    listing: ToolListing<'w>,
    access: ToolAccess,
    descriptor: Arc<ToolDescriptor>,
    wires: Vec<(ProfileName, Arc<RenderedTools>)>,
    loaded: Option<&'w Loaded>,
}

impl<'w> ToolPage<'w> {
    pub(super) fn new(listing: ToolListing<'w>, workspace: &'w OpenWorkspace) -> Self {
        let access = ToolAccess::new(listing.tool, workspace);
        let descriptor = listing.tool.tool.descriptor();
        let rendered = |name: ProfileName| (name, name.profile().render(std::slice::from_ref(&descriptor)));
        let wires = ProfileName::all().iter().copied().map(rendered).collect();
        Self { listing, access, descriptor, wires, loaded: workspace.loaded.as_ref() }
    }

    /// Returns the page as text. The terminal wraps its lines.
    pub(super) fn text(&self) -> String {
        let tool = &self.listing.tool.tool;
        let mut head = self.listing.tool.name.to_string();
        for part in tool.title().into_iter().chain(tool.version()) {
            head.push_str("  ");
            head.push_str(part);
        }
        let mut sections = vec![printable(&head).into_owned()];
        match tool.description() {
            Some(description) => sections.push(printable(description.trim()).into_owned()),
            None => sections.push("It has no description.".to_owned()),
        }
        let mut add = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                let text = printable(&lines.join("\n")).into_owned();
                sections.push(format!("{title}\n{}", indented(&text)));
            }
        };
        let parameters = parameter_tree::lines(self.descriptor.input_schema.as_json());
        let none = || vec!["none".to_owned()];
        add("Parameters (* is required)", if parameters.is_empty() { none() } else { parameters });
        let result = self.descriptor.output_schema.as_ref();
        add("Result", result.map(|schema| parameter_tree::lines(schema.as_json())).unwrap_or_default());
        add("Examples", self.descriptor.examples.iter().map(ToString::to_string).collect());
        add("Source", self.source_lines());
        add("Hints", vec![self.listing.hints().join(", ")].into_iter().filter(|hints| !hints.is_empty()).collect());
        add("Limits", self.limit_lines());
        add("Permission", vec![self.access.permission_text()]);
        add("Approval", self.access.approval_lines());
        add("Wires", self.wire_lines());
        add("Losses (arguments are checked in full all the same)", self.loss_lines());
        sections.join("\n\n")
    }

    /// Returns the tool's schemas with their titles.
    pub(super) fn schemas(&self) -> Vec<(&'static str, &Value)> {
        let ToolDescriptor { input_schema, output_schema, failure_schema, emits, .. } = &*self.descriptor;
        let mut schemas = vec![("Schema of the parameters", input_schema.as_json())];
        let others = [
            ("Schema of the result", output_schema),
            ("Schema of failures", failure_schema),
            ("Schema of progress", emits),
        ];
        schemas.extend(others.into_iter().filter_map(|(title, schema)| Some((title, schema.as_ref()?.as_json()))));
        schemas
    }

    pub(super) fn json(&self) -> Value {
        let ToolDescriptor { input_schema, output_schema, failure_schema, emits, examples, version, .. } =
            &*self.descriptor;
        let mut json = self.listing.json();
        let wires = self.wires.iter().map(|(name, rendered)| (name.as_str().to_owned(), wire_json(rendered)));
        let further = json!({
            "version": version,
            "input_schema": input_schema,
            "output_schema": output_schema,
            "failure_schema": failure_schema,
            "emits": emits,
            "examples": examples,
            "request": self.request_json(),
            "command": self.command_json(),
            "secrets": self.listing.entry.map(|entry| entry.reach.secret_names()).unwrap_or_default(),
            "limits": limits_json(self.listing.tool.tool.limits()),
            "permission": self.access.permission_json(),
            "approval": self.access.approval_json(),
            "wires": wires.collect::<serde_json::Map<_, _>>(),
        });
        if let (Value::Object(json), Value::Object(further)) = (&mut json, further) {
            json.extend(further);
        }
        json
    }

    /// Returns what the tool's calls do, with variables in place of arguments, if its kind says so.
    fn effect(&self) -> Option<&CallEffect> {
        self.listing.tool.tool.annotations().get::<CallPreview>().map(CallPreview::template)
    }

    fn request_json(&self) -> Value {
        match self.effect() {
            Some(CallEffect::Sends { method, url, .. }) => json!({"method": method, "url": url}),
            _ => Value::Null,
        }
    }

    fn command_json(&self) -> Value {
        match self.effect() {
            Some(CallEffect::Starts { argv, .. }) => json!(argv),
            _ => Value::Null,
        }
    }

    fn source_lines(&self) -> Vec<String> {
        let tool = self.listing.tool;
        let mut lines = vec![format!("{}, {}", self.listing.source(), self.listing.kind())];
        if let Some(entry) = self.listing.entry {
            let line = entry.position.map(|position| format!(":{}", position.line)).unwrap_or_default();
            lines.push(format!("{}{line}: {}", entry.path.display(), entry.key));
        }
        lines.extend(self.effect().and_then(|effect| effect.facts().into_iter().next()).map(|action| action.text));
        if let Some(entry) = self.listing.entry {
            lines.extend(entry.reach.secret_names().into_iter().map(|secret| format!("uses the secret `{secret}`")));
        }
        if tool.exported {
            lines.push(format!("also found as `{}`", tool.name.tool()));
        }
        lines.extend(tool.hides.iter().map(|other| format!("hides `{other}`")));
        lines.extend(tool.hidden_by.iter().map(|other| format!("hidden by `{other}`")));
        lines
    }

    fn limit_lines(&self) -> Vec<String> {
        let ExecutionLimits { timeout, idle_timeout, output_cap, concurrency, .. } = self.listing.tool.tool.limits();
        let run = self.loaded.map(|loaded| loaded.limits).unwrap_or_default();
        let seconds = |duration: Duration| format!("{} s", duration.as_secs_f64());
        let mut lines = Vec::new();
        if let Some(timeout) = timeout {
            lines.push(format!("timeout {}", seconds(*timeout)));
        }
        if let Some(timeout) = run.call_timeout {
            lines.push(format!("timeout of every call {}", seconds(timeout.into())));
        }
        if let Some(timeout) = idle_timeout {
            lines.push(format!("timeout without output {}", seconds(*timeout)));
        }
        if let Some(cap) = output_cap {
            lines.push(format!("output of at most {} bytes", cap.bytes));
        }
        match concurrency {
            Concurrency::Max(most) => lines.push(format!("at most {most} calls at the same time")),
            Concurrency::Exclusive => lines.push("no other call at the same time".to_owned()),
            Concurrency::Keyed(key) => lines.push(format!("no other call with the key `{key}` at the same time")),
            _ => {}
        }
        lines
    }

    /// Returns a line per wire: the tool's name there, and its mode.
    fn wire_lines(&self) -> Vec<String> {
        let line = |(name, rendered): &(ProfileName, Arc<RenderedTools>)| match rendered.iter().next() {
            Some(tool) => format!("{:<12}{}{}", name.as_str(), tool.wire_name, mode_name(tool.mode)),
            None => format!("{:<12}not sent", name.as_str()),
        };
        self.wires.iter().map(line).collect()
    }

    /// Returns what wires can't express about the tool. What several share is one line.
    fn loss_lines(&self) -> Vec<String> {
        let mut all: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, rendered) in &self.wires {
            for text in losses(rendered).map(finding_text) {
                match all.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, wires)) => wires.push(name.as_str()),
                    None => all.push((text, vec![name.as_str()])),
                }
            }
        }
        all.into_iter().map(|(text, wires)| format!("{text} ({})", wires.join(", "))).collect()
    }
}

/// Returns what a wire can't express about a tool.
fn losses(rendered: &RenderedTools) -> impl Iterator<Item = &Finding> {
    rendered.findings().iter().filter(|finding| finding.severity() >= Severity::Loss)
}

fn finding_text(Finding { pointer, message, advice, kind, .. }: &Finding) -> String {
    let place = if pointer.is_empty() { String::new() } else { format!("{pointer}: ") };
    match kind {
        // The title says what all losses have in common.
        FindingKind::Loss(_) => format!("{place}{message}"),
        _ => format!("{place}{message}; {advice}"),
    }
}

fn mode_name(mode: ToolMode) -> &'static str {
    match mode {
        ToolMode::Strict => ", strict",
        ToolMode::BuiltIn => ", built into the provider",
        _ => "",
    }
}

fn wire_json(rendered: &RenderedTools) -> Value {
    let findings: Vec<&Finding> = losses(rendered).collect();
    let sent = rendered.iter().next();
    json!({
        "name": sent.map(|tool| &tool.wire_name),
        "strict": sent.map(|tool| matches!(tool.mode, ToolMode::Strict)),
        "findings": findings,
    })
}

fn limits_json(limits: &ExecutionLimits) -> Value {
    let ExecutionLimits { timeout, idle_timeout, output_cap, concurrency, .. } = limits;
    let concurrency = match concurrency {
        Concurrency::Max(most) => json!(most),
        Concurrency::Exclusive => json!("exclusive"),
        Concurrency::Keyed(key) => json!({"key": key}),
        _ => Value::Null,
    };
    json!({
        "timeout": timeout.map(|timeout| timeout.as_secs_f64()),
        "idle_timeout": idle_timeout.map(|timeout| timeout.as_secs_f64()),
        "max_output": output_cap.map(|cap| cap.bytes),
        "concurrency": concurrency,
    })
}
