//! The check that a toolkit can be run.
//!
//! A toolkit that lacks a handler or a service runs nothing. This is a mistake of the application, and it must be
//! reported by the first call, not by the one that happens to need the missing part. The tools of a live source come
//! from several parties, so there one that lacks something must not stop the others: [`ProblemScope`]. The check visits
//! every tool, so its result is cached with the set and computed again only if a run brings additional services.

use std::borrow::Borrow;
use std::sync::{Arc, OnceLock};

use crate::executor::RunOptions;
use crate::scope::RunScope;
use crate::service::{Dependency, ServiceSource, Services};
use crate::toolkit::{MissingToolService, NotRunnable, ToolSet, Toolkit};

/// The cached result of the check, without the services of a run.
pub(super) type ProblemCache = OnceLock<Option<RunnableProblems>>;

/// The problems of a set, and the services that a run would have to provide to solve them.
#[derive(Clone)]
pub(super) struct RunnableProblems {
    problems: Arc<NotRunnable>,
    /// The missing services, each once.
    lacking: Arc<[Dependency]>,
}

/// The calls that the problems of a toolkit end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemScope {
    /// Every call: the application built the toolkit and must correct it.
    WholeToolkit,
    /// The calls of the tools that have a problem.
    EachTool,
}

/// Checking a toolkit.
impl Toolkit {
    /// Checks that calls can be run. The error lists all tools that require a handler and have none, all missing
    /// services, and all invalid definitions. While there is one, every call of a tool ends with `execution_error` and
    /// no handler runs; services that are passed to a run are taken into account there. Services that each run must
    /// provide are not checked here, but by [`ensure_runnable_with`](Self::ensure_runnable_with). On a live source,
    /// only the tools that lack something are affected: see
    /// [`Snapshot::runnable_with`](crate::Snapshot::runnable_with).
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let kit: Toolkit = Toolkit::from_iter([Tool::new("later").params::<u8>().define()?]);
    /// assert_eq!(kit.ensure_runnable().unwrap_err().missing_handlers, ["later"]);
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn ensure_runnable(&self) -> Result<(), NotRunnable> {
        let Some(problems) = self.set.problems(None) else { return Ok(()) };
        let mut problems = NotRunnable::clone(&problems);
        problems.missing_services.retain(|missing| missing.provided_by != ServiceSource::RunOnly);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Checks that calls can be run with these options, before anything starts: as
    /// [`ensure_runnable`](Self::ensure_runnable), with the services of the run, and those that each run must provide.
    ///
    /// ```
    /// use haft_executor::{Cx, RunOptions, Tool, Toolkit};
    ///
    /// struct Tenant(String);
    ///
    /// let whose = Tool::new("whose").depends_on_run::<Tenant>();
    /// let whose = whose.handler(|(), cx: Cx| async move { cx.service::<Tenant>().map(|it| it.0.clone()).ok() })?;
    /// let kit: Toolkit = Toolkit::new().with(whose)?;
    /// kit.ensure_runnable()?;
    ///
    /// let missing = kit.ensure_runnable_with(&RunOptions::new()).unwrap_err().missing_services;
    /// assert_eq!(missing[0].tool, "whose");
    /// kit.ensure_runnable_with(&RunOptions::new().service(Tenant("ana".to_owned())))?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn ensure_runnable_with(&self, options: impl Borrow<RunOptions>) -> Result<(), NotRunnable> {
        match self.set.problems(options.borrow().scope()) {
            None => Ok(()),
            Some(problems) => Err(NotRunnable::clone(&problems)),
        }
    }

    /// Returns the tools that can be run with these options, and the problems of each of the others, by name. `None` if
    /// every tool can be run.
    pub(crate) fn split_runnable(&self, options: &RunOptions) -> Option<(Self, Vec<(String, NotRunnable)>)> {
        let problems = self.set.problems(options.scope())?;
        let mut by_tool = problems.by_tool();
        let mut kit = self.clone();
        kit.set_mut().faults.clear();
        let mut left_out = Vec::new();
        let kit = kit.filter(|tool| {
            let problems = by_tool.remove_entry(tool.name());
            let is_runnable = problems.is_none();
            left_out.extend(problems.map(|(name, problems)| (name.to_owned(), problems)));
            is_runnable
        });
        // Tools that are invalid are not part of the set.
        let mut absent: Vec<_> = by_tool.into_iter().map(|(name, problems)| (name.to_owned(), problems)).collect();
        absent.sort_unstable_by(|(name, _), (other, _)| name.cmp(other));
        left_out.append(&mut absent);
        Some((kit, left_out))
    }
}

impl ToolSet {
    /// Returns the reasons why this set can't be run with the scope of a run. The cost does not depend on the number of
    /// tools, unless there is a problem.
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
                if !serves(provided, needed) && !lacking.contains(needed) {
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
            let missing = tool.dependencies().iter().filter(|needed| !given.has(needed) && !serves(provided, needed));
            missing.map(|missing| MissingToolService::new(tool.name(), missing))
        });
        let problems = NotRunnable {
            missing_handlers: without_handler.map(|(tool, _)| tool.name().to_owned()).collect(),
            missing_services: missing_services.collect(),
            faults: self.faults.clone(),
        };
        (!problems.is_empty()).then(|| Arc::new(problems))
    }
}

/// Reports whether the services of a toolkit satisfy a dependency.
fn serves(provided: &Services, needed: &Dependency) -> bool {
    match needed.provided_by() {
        ServiceSource::ToolkitOrRun => provided.has(needed),
        ServiceSource::RunOnly => false,
    }
}
