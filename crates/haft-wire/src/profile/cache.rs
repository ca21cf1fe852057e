//! The tool sets and formats that a profile has rendered.
//!
//! A tool set is recognised by its descriptors' addresses, which the entry keeps alive. A loop sends the same
//! descriptors with every turn, so comparing addresses costs less than reading any descriptor.

use std::sync::{Arc, Mutex, PoisonError};

use haft_core::{OutputFormat, ToolDescriptor};

use super::output::RenderedOutput;
use crate::profile::rendered_tools::RenderedTools;
use crate::wire_error::RequestError;

/// The number of tool sets, and of formats, to keep.
const KEPT: usize = 16;

#[derive(Default)]
pub(super) struct RenderCache {
    /// The most recently used one is the last.
    entries: Mutex<Vec<Entry>>,
    outputs: Mutex<Vec<(OutputFormat, Arc<RenderedOutput>)>>,
}

struct Entry {
    tools: Box<[Arc<ToolDescriptor>]>,
    rendered: Arc<RenderedTools>,
}

impl RenderCache {
    pub(super) fn get_or_render(
        &self,
        tools: &[Arc<ToolDescriptor>],
        render: impl FnOnce() -> RenderedTools,
    ) -> Arc<RenderedTools> {
        if let Some(rendered) = self.get(tools) {
            return rendered;
        }
        // Render outside the lock: two threads may do so at the same time, and one result is kept.
        let rendered = Arc::new(render());
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() == KEPT {
            entries.remove(0);
        }
        entries.push(Entry { tools: tools.into(), rendered: Arc::clone(&rendered) });
        rendered
    }

    pub(super) fn get_or_render_output(
        &self,
        format: &OutputFormat,
        render: impl FnOnce() -> Result<RenderedOutput, RequestError>,
    ) -> Result<Arc<RenderedOutput>, RequestError> {
        let known = |outputs: &[(OutputFormat, Arc<RenderedOutput>)]| {
            outputs.iter().find(|(known, _)| known == format).map(|(_, rendered)| Arc::clone(rendered))
        };
        if let Some(rendered) = known(&self.outputs.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(rendered);
        }
        let rendered = Arc::new(render()?);
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        if outputs.len() == KEPT {
            outputs.remove(0);
        }
        outputs.push((format.clone(), Arc::clone(&rendered)));
        Ok(rendered)
    }

    fn get(&self, tools: &[Arc<ToolDescriptor>]) -> Option<Arc<RenderedTools>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let at = entries.iter().rposition(|entry| entry.is_for(tools))?;
        let rendered = Arc::clone(&entries[at].rendered);
        entries[at..].rotate_left(1);
        Some(rendered)
    }
}

impl Entry {
    fn is_for(&self, tools: &[Arc<ToolDescriptor>]) -> bool {
        self.tools.len() == tools.len() && self.tools.iter().zip(tools).all(|(kept, tool)| Arc::ptr_eq(kept, tool))
    }
}
