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

use haft::conversation::ContentPart;
use haft::run::{CallDecodeError, ToolCall, ToolCalls, Typed};
use haft::schema::Issue;
use haft::tool::{Cx, DefinitionError, Failure, Handle, HandlerError, NoFailure, StaticTool, Tool, ToolType};
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

/// Asks a person.
#[tool(interaction, success = bool)]
#[derive(Debug)]
pub enum Confirm {
    /// By a question.
    Question(String),
    /// In general.
    Anything,
}

/// Runs code at the provider.
#[tool(provider = "vendor.code")]
#[derive(Debug)]
pub struct RunCode;

/// Runs a command.
#[tool(provider = "vendor.shell", provider_name = "shell", args = 3_u8)]
#[must_use]
pub fn run_command(command: String) -> String {
    command
}

/// The number of steps.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Steps(pub u8);

async fn trimmed(params: Publish, cx: Cx) -> Result<Publish, Issue> {
    cx.cancelled().await;
    Ok(Publish { title: params.title.trim().to_owned() })
}

fn shown(title: &String) -> Vec<ContentPart> {
    vec![ContentPart::text(title)]
}

/// Publishes a page.
#[tool(refine = trimmed, to_model = shown, emits = Steps)]
pub async fn publish(title: String, #[service(run)] key: &ApiKey, cx: &Cx) -> Result<String, HandlerError> {
    cx.emit(Steps(1)).await?;
    Ok(format!("{title} {}", key.0))
}

/// A tool with state.
#[derive(Debug)]
pub struct Multiply(pub i32);

impl ToolType for Multiply {
    const NAME: &'static str = "multiply";
    type Params = i32;
    type Success = i32;
    type Failure = NoFailure;
    type Services = ();
}

impl Handle for Multiply {
    async fn handle(&self, number: i32, _cx: &Cx) -> Result<i32, HandlerError> {
        Ok(number.saturating_mul(self.0))
    }
}

/// The calls of the program.
#[derive(Debug, ToolCalls)]
pub enum AppCall {
    /// Hands over.
    HandOver(Typed<HandOver>),
    /// Asks.
    Confirm(Typed<Confirm>),
    /// Searches.
    #[value]
    WebSearch(Typed<WebSearch>),
    /// Runs code.
    RunCode(Typed<RunCode>),
    /// Runs a command.
    RunCommand(Typed<RunCommand>),
    /// Publishes.
    Publish(Typed<Publish>),
    /// Multiplies.
    #[value]
    Multiply(Typed<Multiply>),
    /// A call of another tool.
    #[other]
    Other(ToolCall),
}

#[derive(ToolCalls)]
enum OneCall {
    WithoutComment(Typed<WithoutComment>),
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
    let calls: Toolkit = AppCall::toolkit(WebSearch { max_uses: None }, Multiply(3));
    let call: Result<AppCall, CallDecodeError> = AppCall::decode(ToolCall::new("c1", "search", ""));
    let one: Result<OneCall, CallDecodeError> = OneCall::decode(ToolCall::new("c1", "without_comment", ""));
    assert!(calls.len() == 7 && matches!(call, Ok(AppCall::Other(_))));
    assert!(matches!(one, Ok(OneCall::WithoutComment(typed)) if typed.repairs.is_empty()));
    let app = App { key: ApiKey(String::new()), attempts: 3 };
    let kit: Toolkit = toolkit![Lookup, CountLetters, ReadPage, WithoutComment, inner::Inner].provide(app);
    let tool: Tool = Lookup::tool()?;
    assert!(kit.len() == 5 && tool.name() == Lookup::NAME);
    let desk: Toolkit = compose![Desk, Control].provide(Desk);
    let shelf: Toolkit = Shelf::toolkit().provide(Shelf(0));
    assert!(desk.len() == 3 && shelf.len() == 1);
    Ok(())
}
