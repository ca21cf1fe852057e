//! Generated code under the strictest lints: this file compiles without a warning, under clippy too.

#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications,
    nonstandard_style,
    rust_2018_idioms,
    unused,
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic
)]

use haft::tool::{Cx, DefinitionError, Failure, StaticTool, Tool, ToolType};
use haft::toolkit::{Services, Toolkit};
use haft::{JsonSchema, compose, tool, toolkit, tools};
use serde::{Deserialize, Serialize};

/// A service.
#[derive(Debug)]
pub struct ApiKey(pub String);

/// The state.
#[derive(Debug, Services)]
pub struct App {
    /// A service.
    pub key: ApiKey,
    /// A small one, which clippy would prefer by value.
    pub attempts: u8,
}

/// A failure.
#[derive(Debug, Serialize, JsonSchema, Failure)]
pub enum LookupError {
    /// There is no such record.
    #[failure(message = "nothing called {name}")]
    NotFound {
        /// The name that was looked up.
        name: String,
    },
}

/// A parameter type of the user.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Page {
    /// Counted from one.
    pub number: u32,
}

/// Looks something up.
#[tool(
    readonly,
    timeout = "5s",
    concurrency = 2,
    output_cap = 8 * 1024,
    meta = {"a": 1},
    approval = |params, _| std::future::ready(params.name.is_empty()),
    example = Lookup { name: "x".to_owned(), limit: None },
)]
pub async fn lookup(
    name: String,
    /// The most results.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
    #[service] key: &ApiKey,
    #[service] attempts: &u8,
    cx: &Cx,
) -> Result<String, LookupError> {
    cx.cancelled().await;
    if name == key.0 { Err(LookupError::NotFound { name }) } else { Ok(format!("{name} {limit:?} {attempts}")) }
}

/// Counts the letters of a text.
#[tool]
#[must_use]
pub fn count_letters(text: String, text_locale: Option<String>, text_form: Option<u8>, _unused: u8) -> usize {
    let _ = (text_locale, text_form);
    text.chars().count()
}

/// Reads a page.
#[tool(blocking)]
#[must_use]
pub fn read_page(#[params] page: Page) -> u32 {
    page.number
}

#[tool]
pub(crate) fn without_comment() {}

mod inner {
    use haft::tool;

    /// A tool in a separate module.
    #[tool]
    pub(crate) fn inner(value: u8) -> u8 {
        value
    }
}

/// Hand over to a person.
#[tool(signal)]
#[derive(Debug)]
pub struct HandOver {
    /// The reason.
    pub reason: String,
}

/// Searches the web.
#[tool(provider = "vendor.web_search", success = Vec<String>)]
#[derive(Debug)]
pub struct WebSearch {
    /// The most searches.
    pub max_uses: Option<u32>,
}

/// A service whose methods are tools.
#[derive(Debug)]
pub struct Desk;

#[tools(pub)]
impl Desk {
    /// Opens a ticket.
    #[tool]
    #[must_use]
    pub fn open_ticket(&self, title: String) -> String {
        title
    }
}

/// A desk of this crate only.
#[derive(Debug)]
pub(crate) struct Shelf(u8);

#[tools(pub(crate))]
impl Shelf {
    #[tool]
    pub(crate) fn count_books(&self) -> u8 {
        self.0
    }
}

toolkit! {
    pub struct Control = [HandOver, WebSearch { max_uses: None }];
}

fn main() -> Result<(), DefinitionError> {
    let app = App { key: ApiKey(String::new()), attempts: 3 };
    let kit: Toolkit = toolkit![Lookup, CountLetters, ReadPage, WithoutComment, inner::Inner].provide(app);
    let tool: Tool = Lookup::tool()?;
    assert!(kit.len() == 5 && tool.name() == Lookup::NAME);
    let desk: Toolkit = compose![Desk, Control].provide(Desk);
    let shelf: Toolkit = Shelf::toolkit().provide(Shelf(0));
    assert!(desk.len() == 3 && shelf.len() == 1);
    Ok(())
}
