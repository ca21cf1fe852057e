//! Finding tools by the types that define them.
//!
//! A tool that is renamed or put in a namespace is still the tool of its type, and a typed call must reach it. The
//! index is built by the first typed call of a set, so that sets without typed calls pay nothing.

use std::any::TypeId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::OnceLock;

use crate::handler::ToolType;
use crate::seed::RandomState;
use crate::tool::Tool;
use crate::toolkit::{ToolSet, Toolkit};

/// A typed call that names a tool of which a toolkit has more than one copy, under different names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the toolkit has {} tools of the type `{tool_type}`, called `{}`: choose one by name with `call_named`",
    .names.len(),
    .names.join("`, `")
)]
#[non_exhaustive]
pub struct AmbiguousTool {
    /// The full name of the type.
    pub tool_type: &'static str,
    /// The names of the tools, in the order they were added. At least two.
    pub names: Vec<String>,
}

/// The places of the tools of each type, computed once.
pub(super) type TypeIndex = OnceLock<HashMap<TypeId, TypePlaces, RandomState>>;

/// The places of the tools of one type.
#[derive(Clone)]
pub(super) enum TypePlaces {
    One(usize),
    Several(Vec<usize>),
}

impl Tool {
    /// Reports whether the type `T` defines this tool, whatever its name is: it was created with [`Tool::of`] or one of
    /// its relatives, by `#[tool]`, or changed from such a tool.
    ///
    /// ```
    /// use haft_executor::{NoFailure, Tool, ToolType};
    ///
    /// struct Double;
    ///
    /// impl ToolType for Double {
    ///     const NAME: &'static str = "double";
    ///     type Params = i64;
    ///     type Success = i64;
    ///     type Failure = NoFailure;
    ///     type Services = ();
    /// }
    ///
    /// let tool = Tool::of::<Double>().handler(|n, _cx| async move { n * 2 })?;
    /// assert!(tool.with_name("twice")?.is_type::<Double>());
    /// assert!(!Tool::new("double").handler(|n: i64, _cx| async move { n * 2 })?.is_type::<Double>());
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    #[must_use]
    pub fn is_type<T: ToolType>(&self) -> bool {
        self.rust_type() == Some(TypeId::of::<T>())
    }
}

impl<S> Toolkit<S> {
    /// Returns the tool of the type `T`, under any name; if there is none, the tool with the name of the type. More
    /// than one tool of the type is an error, also if one of them has its name.
    ///
    /// ```
    /// use haft_executor::{NoFailure, Tool, ToolType, Toolkit};
    ///
    /// struct Search;
    ///
    /// impl ToolType for Search {
    ///     const NAME: &'static str = "search";
    ///     type Params = String;
    ///     type Success = String;
    ///     type Failure = NoFailure;
    ///     type Services = ();
    /// }
    ///
    /// let search: Toolkit = Toolkit::new().with(Tool::of::<Search>().handler(|query, _cx| async move { query })?)?;
    /// let (github, wiki) = (search.clone().namespace("github")?, search.namespace("wiki")?);
    /// assert_eq!(github.find::<Search>()?.unwrap().name(), "github__search");
    ///
    /// let error = Toolkit::compose([github, wiki])?.find::<Search>().unwrap_err();
    /// assert_eq!(error.names, ["github__search", "wiki__search"]);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn find<T: ToolType>(&self) -> Result<Option<&Tool>, AmbiguousTool> {
        self.set.find_type(TypeId::of::<T>(), std::any::type_name::<T>(), T::NAME)
    }
}

impl ToolSet {
    fn find_type(&self, id: TypeId, tool_type: &'static str, name: &str) -> Result<Option<&Tool>, AmbiguousTool> {
        match self.types.get_or_init(|| self.index_types()).get(&id) {
            Some(TypePlaces::One(place)) => Ok(Some(self.at(*place).0)),
            Some(TypePlaces::Several(places)) => {
                let names = places.iter().map(|place| self.at(*place).0.name().to_owned()).collect();
                Err(AmbiguousTool { tool_type, names })
            }
            None => Ok(self.find(name).map(|(tool, _)| tool)),
        }
    }

    fn index_types(&self) -> HashMap<TypeId, TypePlaces, RandomState> {
        let mut types = HashMap::default();
        for (place, entry) in self.entries.iter().enumerate() {
            let Some(id) = entry.tool.rust_type() else { continue };
            match types.entry(id) {
                Entry::Vacant(vacant) => {
                    vacant.insert(TypePlaces::One(place));
                }
                Entry::Occupied(mut occupied) => occupied.get_mut().add(place),
            }
        }
        types
    }
}

impl TypePlaces {
    fn add(&mut self, place: usize) {
        match self {
            Self::One(first) => *self = Self::Several(vec![*first, place]),
            Self::Several(places) => places.push(place),
        }
    }
}
