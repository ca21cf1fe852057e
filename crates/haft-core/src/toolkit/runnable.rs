//! Whether a toolkit can be run.
//!
//! A toolkit that lacks a handler or a service runs nothing: that is a mistake of whoever put it together, and it must
//! show at the first call, not at the one that happens to need what is missing. Looking into it costs as much as there
//! are tools, so the answer is kept with the set and only asked for again when a run brings services of its own.

use std::sync::{Arc, OnceLock};

use crate::scope::RunScope;
use crate::service::{Dependency, Services};
use crate::toolkit::{MissingToolService, NotRunnable, ToolSet, Toolkit};

/// What is wrong with a set as it is, once somebody asked.
pub(super) type ProblemCache = OnceLock<Option<RunnableProblems>>;

/// Problems, and what a run would have to bring along to be rid of them.
#[derive(Clone)]
pub(super) struct RunnableProblems {
    problems: Arc<NotRunnable>,
    /// Each missing service once, however many tools need it.
    lacking: Arc<[Dependency]>,
}

/// Running needs a toolkit that lacks nothing.
impl Toolkit {
    /// Whether calls can be run: lists all tools that need a handler and have none, all services that are missing, and
    /// all faulty definitions. As long as there is one, every call of a tool is answered with `execution_error` and
    /// nothing runs; services given to a run count there.
    ///
    /// ```
    /// use haft_core::{Tool, Toolkit};
    ///
    /// let kit: Toolkit = Toolkit::from_iter([Tool::new("later").params::<u8>().define()?]);
    /// assert_eq!(kit.ensure_runnable().unwrap_err().missing_handlers, ["later"]);
    /// # Ok::<_, haft_core::DefinitionError>(())
    /// ```
    pub fn ensure_runnable(&self) -> Result<(), NotRunnable> {
        match self.set.problems(None) {
            None => Ok(()),
            Some(problems) => Err(NotRunnable::clone(&problems)),
        }
    }
}

impl ToolSet {
    /// Why nothing of this set can be run with what a run brings along. Costs the same however many tools there are,
    /// unless something is wrong.
    pub(crate) fn problems(&self, run: Option<&RunScope>) -> Option<Arc<NotRunnable>> {
        let found = self.problems.get_or_init(|| self.summarize_problems()).as_ref()?;
        let Some(run) = run.filter(|_| !found.lacking.is_empty()) else { return Some(Arc::clone(&found.problems)) };
        let is_rest_fine = found.problems.missing_handlers.is_empty() && found.problems.faults.is_empty();
        if is_rest_fine && found.lacking.iter().all(|needed| run.services.has(needed)) {
            return None;
        }
        self.collect_problems(Some(run))
    }

    fn summarize_problems(&self) -> Option<RunnableProblems> {
        let problems = self.collect_problems(None)?;
        let mut lacking = Vec::new();
        for (tool, scope) in self.with_scopes() {
            let provided = scope.map_or(Services::none(), |scope| &scope.services);
            for needed in tool.dependencies() {
                if !provided.has(needed) && !lacking.contains(needed) {
                    lacking.push(*needed);
                }
            }
        }
        Some(RunnableProblems { problems, lacking: lacking.into() })
    }

    fn collect_problems(&self, run: Option<&RunScope>) -> Option<Arc<NotRunnable>> {
        let without_handler = self.with_scopes().filter(|(tool, _)| tool.requires_handler() && !tool.has_handler());
        let missing_services = self.with_scopes().flat_map(|(tool, scope)| {
            let provided = scope.map_or(Services::none(), |scope| &scope.services);
            let given = run.map_or(Services::none(), |run| &run.services);
            let missing = provided.missing(tool.dependencies().iter().filter(|needed| !given.has(needed)));
            missing.into_iter().map(|missing| MissingToolService::new(tool.name(), missing.service))
        });
        let problems = NotRunnable {
            missing_handlers: without_handler.map(|(tool, _)| tool.name().to_owned()).collect(),
            missing_services: missing_services.collect(),
            faults: self.faults.clone(),
        };
        (!problems.is_empty()).then(|| Arc::new(problems))
    }
}
