//! Replacing the handler of a tool in a toolkit, for tests, dry runs and overrides.

use haft_core::nearest_tools;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cx::Cx;
use crate::handler::Failure;
use crate::tool::{DefinitionError, Tool};
use crate::toolkit::Toolkit;

/// A handler that can't be replaced.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceError {
    /// There is no such tool.
    #[error("there is no tool named `{name}`{}", suggestion(.nearest))]
    UnknownTool {
        /// The name.
        name: String,
        /// Similar names, best match first.
        nearest: Vec<String>,
    },
    /// The handler can't be attached to the tool.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}

/// Replacing handlers.
impl<S> Toolkit<S> {
    /// Replaces the handler of the tool with this name by one that always succeeds. The position of the tool,
    /// everything the model reads of it, its services and the middleware around it stay the same.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let send = Tool::new("send").handler(|to: String, _cx| async move { format!("sent to {to}") })?;
    /// let kit: Toolkit = Toolkit::from_iter([send]);
    ///
    /// let dry = kit.clone().with_handler("send", |to: String, _cx| async move { format!("would send to {to}") })?;
    /// assert_eq!(dry.descriptors(), kit.descriptors());
    ///
    /// let error = kit.with_handler("sned", |_: String, _cx| async {}).unwrap_err();
    /// assert_eq!(error.to_string(), "there is no tool named `sned`; the nearest is `send`");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_handler<A, T, F, Fut>(self, name: &str, handler: F) -> Result<Self, ReplaceError>
    where
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        F: Fn(A, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        self.change(name, |tool| tool.with_handler(handler))
    }

    /// Replaces the handler of the tool with this name by one that may fail. A tool that declared no failure declares
    /// this one; otherwise failures must be valid for the declared schema.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let send = Tool::new("send").handler(|to: String, _cx| async move { to.len() })?;
    /// let kit: Toolkit = Toolkit::from_iter([send]);
    /// let broken = kit.try_with_handler("send", |_: String, _cx| async { Err::<usize, _>("the line is dead") })?;
    /// assert_eq!(broken.get("send").unwrap().failure().as_json()["type"], "string");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_with_handler<A, T, E, F, Fut>(self, name: &str, handler: F) -> Result<Self, ReplaceError>
    where
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        E: Failure,
        F: Fn(A, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
    {
        self.change(name, |tool| tool.try_with_handler(handler))
    }

    fn change(
        mut self,
        name: &str,
        change: impl FnOnce(&Tool) -> Result<Tool, DefinitionError>,
    ) -> Result<Self, ReplaceError> {
        let Some(&place) = self.set.index.get(name) else {
            let nearest = nearest_tools(name, self.names()).into_iter().map(str::to_owned).collect();
            return Err(ReplaceError::UnknownTool { name: name.to_owned(), nearest });
        };
        let changed = change(&self.set.entries[place].tool)?;
        self.set_mut().entries[place].tool = changed;
        Ok(self)
    }
}

fn suggestion(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        [one] => format!("; the nearest is `{one}`"),
        several => format!("; the nearest are `{}`", several.join("`, `")),
    }
}
