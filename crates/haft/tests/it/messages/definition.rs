//! Errors of definitions: tools, schemas, patterns and toolkits.

use std::time::Duration;

use haft::conversation::{ContentPart, ToolCallOutput};
use haft::schema::Schema;
use haft::tool::ExecutionLimits;
use haft::toolkit::ToolSource;
use serde_json::{Value, json};

use super::*;

#[tool]
fn look_up() {}

fn named(name: &str) -> Tool {
    Tool::new(name).handler(|(), _cx| async { "fine" }).unwrap()
}

pub(super) fn tools(messages: &mut Messages) {
    messages.section("Definitions of tools");
    let define = |name: &str| Tool::new(name).params::<u8>().define().unwrap_err();
    messages.add("the name is empty", define(""));
    messages.add("the name is blank", define("  "));
    messages.add("the name is too long", define(&"x".repeat(600)).faults[0].to_string());
    messages.add("the name has a control character", define("a\nb"));
    let invalid = |schema: Value| Tool::new("get").params_json(schema).define().unwrap_err();
    messages.add("the parameter schema is invalid", invalid(json!({"type": "text"})));
    let success = Tool::new("get").success_json(json!({"minLength": -1})).define().unwrap_err();
    messages.add("the success schema is invalid", success);
    let example = Tool::new("get").params::<u8>().example("five").define().unwrap_err();
    messages.add("an example is invalid", example);
    let unwritable = Tool::new("get").params::<u8>().example(output::Unwritable).define();
    messages.add("an example can't be written", unwritable.unwrap_err());
    let signal = Tool::signal("note").limits(ExecutionLimits::new().timeout(Duration::from_secs(1))).define();
    messages.add("a signal with limits", signal.unwrap_err());
    let signal = Tool::signal("note").handler(|(), _cx| async {}).unwrap_err();
    messages.add("a signal with a handler", signal);
    let zero = Tool::new("get").limits(ExecutionLimits::new().timeout(Duration::ZERO)).define();
    messages.add("a limit is zero", zero.unwrap_err());
    let result = Tool::new("get").handler(|(), _cx| async { Ok::<u8, String>(1) }).unwrap_err();
    messages.add("the handler returns a `Result`", result);
    let rendered =
        Tool::new("get").to_model_output(|text: &String| [ContentPart::text(text)]).handler(|(), _cx| async { 1u8 });
    messages.add("`to_model_output` reads another type", rendered.unwrap_err());
    messages.add("several faults", Tool::new("").params_json(json!({"type": "text"})).define().unwrap_err());
}

pub(super) fn provider_tools(messages: &mut Messages) {
    messages.section("Definitions of provider tools");
    messages.add("the id has no vendor", Tool::provider("web_search").with_args(()).define().unwrap_err());
    let search = || Tool::provider("openai.web_search");
    let invalid = search().args_schema(Schema::json(json!({"required": ["size"]})).unwrap()).with_args(json!({}));
    messages.add("the settings are invalid", invalid.define().unwrap_err());
    let unwritable = search().args::<output::Unwritable>().with_args(output::Unwritable).define();
    messages.add("the settings can't be written", unwritable.unwrap_err());
    let search =
        search().success::<Vec<String>>().failure_schema(Schema::of::<u8>().unwrap()).with_args(()).define().unwrap();
    let call = ToolCall::new("c1", "web_search", "{}").executed_by_provider();
    let reported = |output: ToolCallOutput| search.provider_result(&call, &output).failure().unwrap().clone();
    messages.failure("its result violates the schema", &reported(ToolCallOutput::new("c1", r#"{"hits": 1}"#)));
    messages.failure("its failure violates the schema", &reported(ToolCallOutput::new("c1", "\"busy\"").error()));
    messages.failure("its failure is declared", &reported(ToolCallOutput::new("c1", "7").error()));
}

pub(super) fn schemas(messages: &mut Messages) {
    messages.section("Schemas");
    for (situation, schema) in [
        ("an unknown type", json!({"type": "text"})),
        ("a keyword of the wrong type", json!({"properties": {"a": {"minLength": "2"}}})),
        ("a divisor of zero", json!({"multipleOf": 0})),
        ("`required` names a key twice", json!({"required": ["a", "a"]})),
        ("not a schema", json!({"properties": {"a": 5}})),
        ("a list of schemas for `items`", json!({"items": [{}, {}]})),
        ("an unknown draft", json!({"$schema": "https://example.org/schema"})),
        ("a reference to nothing", json!({"$ref": "#/$defs/city"})),
        ("a reference to another document", json!({"$ref": "https://example.org/city.json"})),
        ("a schema that applies itself", json!({"$ref": "#"})),
        (
            "`exclusiveMinimum` of an old draft",
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": true}),
        ),
        ("nested too deeply", (0..600).fold(json!({}), |inner, _| json!({"items": inner}))),
        ("an invalid pattern of keys", json!({"patternProperties": {"(": true}})),
    ] {
        messages.add(situation, Schema::json(schema).unwrap_err());
    }
    let wide: serde_json::Map<String, Value> = (0..20_000).map(|n| (n.to_string(), json!({}))).collect();
    let deep = (0..60).fold(json!({"properties": wide}), |inner, _| json!({"properties": {"k".repeat(250): inner}}));
    messages.add("too much work to compile", Schema::json(deep).unwrap_err());
    let chain = |n: usize| {
        if n == 999 { json!({}) } else { json!({"minLength": n, "allOf": [{"$ref": format!("#/$defs/d{}", n + 1)}]}) }
    };
    let definitions: serde_json::Map<String, Value> = (0..=999).map(|n| (format!("d{n}"), chain(n))).collect();
    let tall = Schema::json(json!({"$ref": "#/$defs/d0", "$defs": definitions}));
    messages.add("too many references in a row", tall.unwrap_err());
}

pub(super) fn patterns(messages: &mut Messages) {
    messages.section("Patterns of schemas");
    for (situation, pattern) in [
        ("an open group", "(a"),
        ("a closed group", "a)"),
        ("an open class", "[a"),
        ("nothing to repeat", "*a"),
        ("bounds out of order", "a{3,1}"),
        ("a range out of order", "[z-a]"),
        ("an unknown escape", r"\y"),
        ("a malformed escape", r"\x1"),
        ("a backslash at the end", "a\\"),
        ("an unknown property", r"\p{Wet}"),
        ("a script", r"\p{Script=Greek}"),
        ("an unknown group", r"\k<name>(?<other>a)"),
        ("a malformed group name", "(?<1>a)"),
        ("a repeated group name", "(?<a>x)(?<a>y)"),
        ("a flag", "(?i)a"),
        ("a flag of a group", "(?i:a)"),
        ("a named group of another dialect", "(?P<name>a)"),
        ("an atomic group", "(?>a)"),
        ("a condition", "(?(1)a|b)"),
        ("a recursion", "(?R)"),
        ("a possessive quantifier", "a++"),
        ("an open bound", "a{,3}"),
        ("a class of another dialect", "[[:alpha:]]"),
        ("an anchor of another dialect", r"\Aa\z"),
    ] {
        match Schema::json(json!({"pattern": pattern})) {
            Err(error) => messages.add(situation, error),
            Ok(_) => panic!("{situation}: {pattern} is valid"),
        }
    }
    let deep = "(".repeat(2_000) + &")".repeat(2_000);
    let deep = Schema::json(json!({"pattern": deep})).unwrap_err();
    messages.add("groups nested too deeply", deep);
    let large = Schema::json(json!({"pattern": "(?:ab?){1000}".repeat(100)})).unwrap_err();
    messages.add("a pattern that is too large", large);
}

pub(super) fn toolkits(messages: &mut Messages) {
    messages.section("Toolkits");
    let copy = |prefix: &str| toolkit![LookUp].namespace(prefix).unwrap();
    let copies: Toolkit = Toolkit::compose([copy("github"), copy("wiki")]).unwrap();
    messages.add("two tools of one type", copies.find::<LookUp>().unwrap_err());
    let kit = || Toolkit::<()>::new().with(named("search")).unwrap();
    messages.add("a name twice", kit().with(named("search")).unwrap_err());
    let shadowing: Toolkit = Toolkit::from_iter([named("search"), named("search")]);
    messages.add("a tool that was replaced by a later one", &shadowing.shadowed()[0]);
    let signal = Tool::signal("note").define().unwrap();
    let dynamic = Toolkit::<()>::dynamic([signal]).handler(|_, _, _| async {});
    messages.add("a dynamic handler for a signal", dynamic.unwrap_err());
    let collision = Toolkit::compose([kit(), kit().label("web"), kit().namespace("docs").unwrap()]);
    messages.add("composed toolkits share a name", collision.unwrap_err());
    let collision = Toolkit::compose([kit(), kit(), kit()]);
    messages.add("three composed toolkits share a name", collision.unwrap_err());
    let namespace = |prefix: &str| kit().namespace(prefix).unwrap_err();
    messages.add("an empty namespace", namespace(""));
    messages.add("a namespace with the separator", namespace("a__b"));
    messages.add("a namespace that ends with an underscore", namespace("a_"));
    messages.add("a namespace that is too long", &namespace(&"x".repeat(600)).faults[0]);
    messages.add("a tool's name is too long in the namespace", &namespace(&"x".repeat(508)).faults[0]);
    let live = kit().namespaced("x".repeat(508)).unwrap().snapshot();
    messages.add("a tool of a live source has too long a name", &live.faults()[0]);
    messages.add("composed live sources share a name", &kit().composed(kit()).snapshot().faults()[0]);
    let twice = Toolkit::<()>::make_namespaced("web", [named("search"), named("search")]);
    messages.add("a namespace with a name twice", twice.unwrap_err());
    let handler = |(): (), _cx: Cx| async { "other" };
    messages.add("a handler for an unknown tool, one near", kit().with_handler("serch", handler).unwrap_err());
    messages.add("a handler for an unknown tool, none near", kit().with_handler("weather", handler).unwrap_err());
    let two = kit().with(named("research")).unwrap();
    messages.add("a handler for an unknown tool, several near", two.with_handler("esearch", handler).unwrap_err());
    let note = Toolkit::<()>::from_iter([Tool::signal("note").define().unwrap()]);
    messages.add("a handler for a signal", note.with_handler("note", handler).unwrap_err());
}

pub(super) fn services(messages: &mut Messages) {
    messages.section("Toolkits that can't run");
    let later = Tool::new("later").params::<u8>().define().unwrap();
    let needy = Tool::new("needy").depends_on::<String>().handler(|(), _cx| async {}).unwrap();
    let unrunnable = |tools: Vec<Tool>| Toolkit::<()>::from_iter(tools).ensure_runnable().unwrap_err();
    messages.add("a tool without a handler", unrunnable(vec![later.clone()]));
    messages.add("a service is missing", unrunnable(vec![needy.clone()]));
    messages.add("both", unrunnable(vec![later, needy]));
}
