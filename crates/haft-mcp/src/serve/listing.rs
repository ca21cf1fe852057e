//! The tools as clients list them, made once per generation of the source.
//!
//! What a caller may not see is not there for it: neither in a page, nor behind a cursor, nor by its name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use haft_core::ToolCall;
use haft_executor::{RunOptions, Snapshot, ToolSource};
use haft_schema::{CodecError, Issue};
use haft_wire::{Profile, RenderedTools};
use rmcp::model::{ErrorData, Tool as Definition};

/// The tools of one generation.
pub(super) struct ServedTools {
    snapshot: Snapshot,
    rendered: Arc<RenderedTools>,
    tools: Vec<ServedTool>,
    by_wire_name: HashMap<String, usize>,
}

/// A tool with its definition.
pub(super) struct ServedTool {
    pub(super) tool: haft_executor::Tool,
    pub(super) definition: Definition,
}

/// A page of definitions.
pub(super) struct ServedPage {
    pub(super) tools: Vec<Definition>,
    pub(super) next: Option<String>,
    /// True if the caller sees every tool.
    pub(super) is_complete_view: bool,
}

/// The newest tools that were made.
pub(super) struct ToolCache {
    profile: Profile,
    newest: Mutex<Option<Arc<ServedTools>>>,
}

impl ToolCache {
    pub(super) fn new() -> Self {
        Self { profile: Profile::mcp(), newest: Mutex::default() }
    }

    /// Returns the current tools.
    pub(super) fn current(&self, source: &dyn ToolSource, options: &RunOptions) -> Arc<ServedTools> {
        let snapshot = source.snapshot();
        let is_current = |made: &&Arc<ServedTools>| made.snapshot.generation() >= snapshot.generation();
        if let Some(made) = self.newest().as_ref().filter(is_current) {
            return Arc::clone(made);
        }
        // Made outside the lock, since it drops user values.
        let made = Arc::new(ServedTools::new(&snapshot.runnable_with(options), &self.profile));
        let before = self.newest().replace(Arc::clone(&made));
        drop(before);
        made
    }

    fn newest(&self) -> std::sync::MutexGuard<'_, Option<Arc<ServedTools>>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServedTools {
    fn new(snapshot: &Snapshot, profile: &Profile) -> Self {
        let kit = snapshot.toolkit();
        let descriptors = kit.iter().map(haft_executor::Tool::descriptor);
        let descriptors: Vec<_> = descriptors.filter(|descriptor| descriptor.kind.requires_handler()).collect();
        let rendered = profile.render(&descriptors);
        for finding in rendered.findings() {
            tracing::debug!(%finding, "a tool is served differently from how it is defined");
        }
        let served = rendered.iter().filter_map(|rendered| {
            let tool = kit.get(&rendered.name)?.clone();
            let definition = serde_json::from_str(&rendered.json)
                .inspect_err(|error| tracing::warn!(tool = rendered.name, %error, "a tool can't be served"));
            Some((rendered.wire_name.clone(), ServedTool { tool, definition: definition.ok()? }))
        });
        let (names, tools): (Vec<String>, Vec<ServedTool>) = served.unzip();
        let by_wire_name = names.into_iter().enumerate().map(|(at, name)| (name, at)).collect();
        Self { snapshot: snapshot.clone(), rendered, tools, by_wire_name }
    }

    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the tool that a client calls by this name, if the caller may know of it.
    pub(super) fn find(&self, wire_name: &str, options: &RunOptions) -> Option<&ServedTool> {
        let tool = self.tools.get(*self.by_wire_name.get(wire_name)?)?;
        options.sees(&tool.tool).then_some(tool)
    }

    /// Returns the page after a cursor, of the tools that the caller may know of.
    pub(super) fn page(
        &self,
        cursor: Option<&str>,
        size: usize,
        options: &RunOptions,
    ) -> Result<ServedPage, ErrorData> {
        let visible: Vec<&ServedTool> = self.tools.iter().filter(|tool| options.sees(&tool.tool)).collect();
        let is_complete_view = visible.len() == self.tools.len();
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let last = URL_SAFE_NO_PAD.decode(cursor).ok();
                let is_last = |tool: &&ServedTool| Some(tool.definition.name.as_bytes()) == last.as_deref();
                let last = visible.iter().position(is_last).ok_or_else(|| {
                    let message = "the cursor is invalid, or the tools have changed: list them again from the start";
                    ErrorData::invalid_params(message, None)
                })?;
                last + 1
            }
        };
        let page = &visible[start..visible.len().min(start.saturating_add(size.max(1)))];
        let is_last = start + page.len() == visible.len();
        let next = page.last().filter(|_| !is_last).map(|tool| URL_SAFE_NO_PAD.encode(tool.definition.name.as_bytes()));
        Ok(ServedPage { tools: page.iter().map(|tool| tool.definition.clone()).collect(), next, is_complete_view })
    }

    /// Creates a call from what a client sent.
    pub(super) fn call(&self, tool: &ServedTool, call_id: String, arguments: String) -> ToolCall {
        let mut call = ToolCall::new(call_id, tool.tool.name(), arguments);
        let Some(rendered) = self.rendered.get(tool.tool.name()) else { return call };
        match rendered.codec.decode(&call.arguments) {
            Ok(decoded) => call.arguments = decoded.into_owned(),
            Err(CodecError::Shape { pointer, message }) => {
                call.argument_issue = Some(Box::new(Issue::new(pointer, "decode", message)));
            }
            Err(CodecError::TooLong(bytes)) => {
                let message = format!("must have at most {bytes} bytes when converted; send less");
                call.argument_issue = Some(Box::new(Issue::new("", "maxBytes", message)));
            }
            // The tool itself finds that.
            Err(_) => {}
        }
        call
    }
}
