//! The cost of building untrusted schemas and of checking hostile values: bounded by the size of the input, whatever
//! its content.
//!
//! The first line of an input is the schema, the rest is the value; both may contain the forms of
//! [`expansion`](crate::expansion). The outcome holds the memory that was needed, by powers of two, so that inputs which
//! cost more than others are mutated further.

use haft_schema::{DecodeOptions, Issues, Repairs, Schema};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Outcome, Target, rejection};
use crate::expansion::expand;
use crate::meter::{Input, bounded};

pub(super) const TARGET: Target = Target { name: "schema_cost", seeds: SEEDS, run };

/// The most bytes of all issues of a rejection together.
const MOST_OF_ISSUES: usize = 300 << 10;

const SEEDS: &[&str] = &[
    "{}\n1",
    // recursion: filters of filters with a wrong leaf
    "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$ref\":\"#/$defs/f\",\"$defs\":{\"f\":{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"and\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/f\"}}},\"required\":[\"and\"],\"additionalProperties\":false},{\"type\":\"object\",\"properties\":{\"and\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/f\"}},\"or\":{}},\"required\":[\"and\"]},{\"type\":\"object\",\"properties\":{\"eq\":{\"type\":\"string\"}},\"required\":[\"eq\"],\"additionalProperties\":false}]}}}\n{\"@nest\":20,\"@open\":\"{\\\"and\\\":[\",\"@close\":\"]}\",\"@of\":{\"eq\":1}}",
    "{\"anyOf\":[{\"type\":\"null\"},{\"items\":{\"$ref\":\"#\"}},{\"oneOf\":[{\"items\":{\"$ref\":\"#\"}},{\"contains\":{\"$ref\":\"#\"}}]}]}\n{\"@nest\":40,\"@open\":\"[1,\",\"@close\":\"]\",\"@of\":2}",
    "{\"not\":{\"not\":{\"anyOf\":[{\"type\":\"integer\"},{\"items\":{\"$ref\":\"#\"}}]}}}\n{\"@nest\":60,\"@of\":\"x\"}",
    // unions
    "{\"items\":{\"oneOf\":{\"@list\":60,\"@of\":{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"k%\"},\"v\":{\"type\":\"integer\"}},\"required\":[\"kind\"]}}}}\n{\"@list\":300,\"@of\":{\"kind\":\"k%\",\"v\":\"wrong\"}}",
    "{\"items\":{\"oneOf\":[{\"enum\":{\"@list\":400,\"@of\":\"v%\"}},{\"type\":\"object\",\"properties\":{\"x\":{}},\"required\":[\"x\"],\"additionalProperties\":false}]}}\n{\"@list\":400,\"@of\":\"w%\"}",
    "{\"anyOf\":[{\"$ref\":\"#/$defs/k0\"}],\"$defs\":{\"@map\":30,\"@of\":{\"anyOf\":[{\"$ref\":\"#/$defs/k%+\"}]},\"@last\":{\"type\":\"string\"}}}\n1",
    // diamonds
    "{\"$ref\":\"#/$defs/k0\",\"unevaluatedProperties\":false,\"$defs\":{\"@map\":20,\"@of\":{\"allOf\":[{\"$ref\":\"#/$defs/k%+\"},{\"$ref\":\"#/$defs/k%+\"}],\"unevaluatedProperties\":false},\"@last\":{\"properties\":{\"a\":{}}}}}\n{\"a\":1,\"b\":2}",
    "{\"$ref\":\"#/$defs/k0\",\"$defs\":{\"@map\":200,\"@of\":{\"$ref\":\"#/$defs/k%+\"},\"@last\":{\"$ref\":\"#/$defs/k0\"}}}\n1",
    "{\"allOf\":{\"@list\":50,\"@of\":{\"properties\":{\"@map\":20,\"@of\":{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":5}]}}}},\"unevaluatedProperties\":{\"type\":\"null\"}}\n{\"@map\":40,\"@of\":3}",
    // dynamic scopes
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"https://e.example/tree\",\"$dynamicAnchor\":\"n\",\"items\":{\"$dynamicRef\":\"#n\"},\"$defs\":{\"@map\":30,\"@of\":{\"$id\":\"r%\",\"$dynamicAnchor\":\"n\",\"$ref\":\"r%+\",\"$defs\":{\"a\":{\"$dynamicAnchor\":\"a%\"},\"b\":{\"items\":{\"$dynamicRef\":\"#n\"}}}},\"@last\":{\"$id\":\"r29\",\"items\":{\"$dynamicRef\":\"tree#n\"}}}}\n{\"@nest\":30,\"@of\":1}",
    "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$id\":\"https://e.example/a\",\"$recursiveAnchor\":true,\"anyOf\":[{\"type\":\"integer\"},{\"items\":{\"$recursiveRef\":\"#\"}},{\"$id\":\"b\",\"$recursiveAnchor\":true,\"additionalProperties\":{\"$recursiveRef\":\"#\"}}]}\n{\"@nest\":40,\"@open\":\"[{\\\"a\\\":\",\"@close\":\"}]\",\"@of\":\"x\"}",
    "{\"@nest\":50,\"@open\":\"{\\\"$dynamicAnchor\\\":\\\"x\\\",\\\"properties\\\":{\\\"a\\\":\",\"@close\":\"}}\",\"@of\":{\"$dynamicRef\":\"#x\"}}\n{\"a\":{\"a\":{}}}",
    "{\"$dynamicRef\":\"#a7\",\"$defs\":{\"@map\":1000,\"@of\":{\"$dynamicAnchor\":\"a%\",\"items\":{\"$dynamicRef\":\"#a%\"}}}}\n{\"@nest\":100,\"@of\":1}",
    "{\"anyOf\":{\"@list\":800,\"@of\":{\"$ref\":\"#/$defs/short\"}},\"$defs\":{\"short\":{\"$ref\":\"#/$defs/long/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x\"}}}\n1",
    // patterns
    "{\"items\":{\"type\":\"string\",\"pattern\":\"^(?:(a|aa)+)+(?=b)c$\"}}\n{\"@list\":100,\"@of\":{\"@text\":\"a\",\"@times\":100}}",
    "{\"pattern\":\"^(a*)*\\\\1b$\",\"minLength\":3,\"maxLength\":20}\n{\"@text\":\"a\",\"@times\":40}",
    "{\"patternProperties\":{\"^(x+x+)+y\":{\"type\":\"integer\"},\"(?<=a{2,50})b\":{},\"[^\\\\w]{3,30}$\":false},\"additionalProperties\":false}\n{\"xxxxxxxxxxxxxxxxxxxxxxxxxxx\":1,\"aaaab\":2,\"k\":3}",
    "{\"propertyNames\":{\"pattern\":\"^(k|.[0-9])+$\",\"maxLength\":3}}\n{\"@map\":500,\"@of\":1}",
    // lists of values
    "{\"uniqueItems\":true,\"items\":{\"uniqueItems\":true}}\n{\"@list\":2000,\"@of\":[\"%\",1,{\"a\":[1.0,\"%\"]}]}",
    "{\"uniqueItems\":true}\n{\"@list\":3000,\"@of\":{\"a\":1,\"b\":2.0}}",
    "{\"items\":{\"enum\":{\"@list\":2000,\"@of\":\"v%\"}}}\n{\"@list\":3000,\"@of\":\"w%\"}",
    "{\"items\":{\"enum\":{\"@list\":1000,\"@of\":{\"a\":[\"%\",{\"@digits\":30}]}}}}\n{\"@list\":2000,\"@of\":{\"a\":[\"%\",1]}}",
    "{\"enum\":[{\"@text\":\"long\",\"@times\":20000}],\"const\":{\"@list\":100,\"@of\":{}}}\n[\"x\"]",
    // objects
    "{\"properties\":{\"@map\":2000,\"@of\":{\"type\":\"integer\"}},\"required\":[\"k1999\"],\"additionalProperties\":false}\n{\"k0\":1,\"l1\":2,\"kk2\":3}",
    "{\"contains\":{\"properties\":{\"@map\":2000,\"@of\":{}},\"required\":{\"@list\":2000,\"@of\":\"k%\"}},\"minContains\":2}\n{\"@list\":2000,\"@of\":{\"k0\":1}}",
    "{\"properties\":{\"@map\":1000,\"@of\":true},\"additionalProperties\":false}\n{\"a\":{\"@map\":2000,\"@of\":1},\"__proto__\":1,\"b\":{\"__proto__\":{}}}",
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"dependencies\":{\"@map\":300,\"@of\":[\"k%+\",\"missing\"]},\"if\":{\"required\":[\"k1\"]},\"then\":{\"maxProperties\":3},\"else\":false}\n{\"@map\":300,\"@of\":null}",
    "{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"id\":\"http://e.example/x\",\"minimum\":5,\"exclusiveMinimum\":true,\"items\":[{\"type\":\"string\"},{\"$ref\":\"#\"}],\"additionalItems\":{\"$ref\":\"x#/definitions/a\"},\"definitions\":{\"a\":{\"maxItems\":1}}}\n[1,5,[[],[1,2]]]",
    "{\"$schema\":\"http://json-schema.org/draft-06/schema#\",\"contains\":{\"$ref\":\"http://json-schema.org/draft-06/schema#\"},\"propertyNames\":false}\n[{\"type\":3},{\"items\":[]}]",
    "{\"properties\":{\"@map\":3000,\"@of\":{\"not\":{\"const\":\"%\"}}}}\n{\"k1\":1}",
    // nesting
    "{\"@nest\":100,\"@open\":\"{\\\"items\\\":\",\"@close\":\"}\",\"@of\":{\"type\":\"integer\"}}\n{\"@nest\":110,\"@of\":\"x\"}",
    "{\"@nest\":40,\"@open\":\"{\\\"anyOf\\\":[{\\\"type\\\":\\\"null\\\"},\",\"@close\":\"]}\",\"@of\":{\"additionalProperties\":{\"$ref\":\"#\"}}}\n{\"@nest\":120,\"@open\":\"{\\\"a\\\":\",\"@close\":\"}\",\"@of\":1}",
    "{\"@nest\":30,\"@open\":\"{\\\"properties\\\":{\\\"a_rather_long_name_for_a_property_that_is_repeated\\\":\",\"@close\":\"}}\",\"@of\":{\"properties\":{\"@map\":3000,\"@of\":{}}}}\n{}",
    // numbers
    "{\"type\":\"integer\",\"multipleOf\":1e-300,\"maximum\":1e308}\n{\"@digits\":300}",
    "{\"items\":{\"type\":\"integer\",\"multipleOf\":0.0000000000000000000000000000000000001,\"minimum\":4.99999999999999999999}}\n[1e999999999,1]",
    "{\"items\":{\"multipleOf\":3,\"exclusiveMaximum\":1e300}}\n{\"@list\":20,\"@of\":{\"@number\":\"7777777777777777777777777777777777777777777777777777777777777777777777777777777.777777777777777777777777777777777777777777777777777e-200\"}}",
    "{\"uniqueItems\":true,\"items\":{\"multipleOf\":7}}\n[{\"@digits\":100000},1e-999999999,1E+300,{\"@number\":\"0.000000000000000000000000000000000000000001e-99999999999999999999\"}]",
    "{\"type\":\"integer\"}\n{\"@number\":\"1e-99999999999999999999\"}",
];

fn run(input: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(input) else { return Outcome::of(&"no text") };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (schema_text, value_text) = (expand(first), expand(rest));
    let Ok(written) = serde_json::from_str::<Value>(&schema_text) else { return Outcome::of(&"no schema") };

    let (built, cost) = bounded("building", Input::schema(written.to_string().len()), || written.clone(), Schema::json);
    let building = cost.memory.max(1).ilog2();
    let schema = match built {
        Ok(schema) => schema,
        Err(error) => return Outcome::of(&("bad schema", sized(error.issues()), building)),
    };

    let options = DecodeOptions::default();
    let decode = |()| schema.decode::<IgnoredAny>(&value_text, &options).map(|_| ());
    let (decoded, cost) = bounded("decoding", Input::value(value_text.len(), 3), || (), decode);
    let mut outcome = (sized_result(&decoded), building, cost.memory.max(1).ilog2(), None);

    let repairs = DecodeOptions::default().repairs(Repairs::all());
    let repair = |()| schema.decode::<IgnoredAny>(&value_text, &repairs).map(|_| ());
    let (repaired, _) = bounded("repairing", Input::value(value_text.len(), 8), || (), repair);
    assert!(decoded.is_err() || repaired.is_ok(), "repairs reject a valid value");

    if let Ok(value) = serde_json::from_str::<Value>(&value_text) {
        let (checked, _) =
            bounded("checking", Input::value(value.to_string().len(), 2), || (), |()| schema.check(&value));
        outcome.3 = Some(sized_result(&checked));
    }
    Outcome::of(&outcome)
}

fn sized_result(result: &Result<(), Issues>) -> Vec<String> {
    result.as_ref().map_err(sized).err().unwrap_or_default()
}

/// Returns the rules that were broken. All issues together must stay small.
fn sized(issues: &Issues) -> Vec<String> {
    let each = issues.as_slice().iter();
    let size: usize =
        each.map(|issue| issue.pointer.len() + issue.expected.len() + issue.found.len() + issue.message.len()).sum();
    assert!(size <= MOST_OF_ISSUES, "a rejection of {size} bytes");
    rejection(issues)
}
