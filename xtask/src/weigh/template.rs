//! The tools that are measured: a few kinds of ordinary ones, written once for both sides.
//!
//! A kind is text in which `@` is replaced by the number of the tool and `#` by the name of its types, so that no two
//! tools share a type, as in an application. Both sides get the same types, the same fields and the same body; only
//! the signature around them differs.

/// A kind of tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template {
    /// The start of the function's name.
    pub(super) verb: &'static str,
    /// The start of the types' names: that of the function in another case.
    pub(super) noun: &'static str,
    /// The sentence that describes the tool.
    pub(super) about: &'static str,
    /// The types of fields and of the result.
    pub(super) types: &'static str,
    /// The parameters: names, types, descriptions and attributes.
    pub(super) fields: &'static [Field],
    /// The type of the result.
    pub(super) result: &'static str,
    /// The expression of the result, made from the fields by name.
    pub(super) body: &'static str,
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    /// Its doc comment and attributes.
    pub(super) about: &'static str,
    pub(super) ty: &'static str,
}

/// The arguments of a call of the first tool, and the value it returns for them.
pub(super) const CALL: (&str, &str) = (
    r#"{"query":"moth","filter":{"tags":["a","b"],"owner":"ana","years":{"from":1990,"to":2001}},"order":"newest","limit":2}"#,
    r#"{"items":[{"id":0,"title":"moth","score":0.5},{"id":1,"title":"moth","score":0.5}],"next":"ana"}"#,
);

/// The kinds; tool number n is of kind n modulo their number.
pub(super) const TEMPLATES: [Template; 4] = [SEARCH, CREATE, UPDATE, PLAN];

const SEARCH: Template = Template {
    verb: "search",
    noun: "Search",
    about: "Searches shelf @ for records.",
    types: "
/// The records to look at on shelf @.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct #Filter {
    /// Tags that a record must have.
    tags: Vec<String>,
    /// The owner of the records, or anybody.
    owner: Option<String>,
    /// The years to look at.
    years: #Years,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct #Years {
    /// The first year.
    #[schemars(range(min = 1900, max = 2100))]
    from: u16,
    /// The last year.
    #[schemars(range(min = 1900, max = 2100))]
    to: u16,
}

/// The order of the records.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = \"snake_case\")]
enum #Order {
    Newest,
    Oldest,
    BestMatch,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct #Page {
    items: Vec<#Record>,
    next: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct #Record {
    id: u64,
    title: String,
    score: f64,
}
",
    fields: &[
        Field { name: "query", about: "/// The words to look for.", ty: "String" },
        Field { name: "filter", about: "/// The records to look at.", ty: "#Filter" },
        Field { name: "order", about: "/// The order of the records.", ty: "#Order" },
        Field {
            name: "limit",
            about: "/// The most records to return.\n#[schemars(range(min = 1, max = 100))]",
            ty: "u32",
        },
    ],
    result: "#Page",
    body: "{
        let score = if matches!(order, #Order::BestMatch) { 1.0 } else { 0.5 };
        let years = u64::from(filter.years.to.saturating_sub(filter.years.from));
        let count = u64::from(limit).min(years + filter.tags.len() as u64);
        let items = (0..count).map(|id| #Record { id: id + @, title: query.clone(), score }).collect();
        #Page { items, next: filter.owner }
    }",
};

const CREATE: Template = Template {
    verb: "create",
    noun: "Create",
    about: "Creates a ticket in project @.",
    types: "
/// The urgency of a task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
enum #Priority {
    Low,
    Normal,
    High,
}

/// A person of team @.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct #Person {
    /// The full name.
    #[schemars(length(min = 1, max = 80))]
    name: String,
    /// An address for messages.
    email: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct #Label {
    name: String,
    color: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct #Ticket {
    /// The number of the ticket.
    id: i64,
    title: String,
    priority: #Priority,
    watchers: Vec<#Person>,
    labels: Vec<String>,
    is_open: bool,
}
",
    fields: &[
        Field {
            name: "title",
            about: "/// The title, in a few words.\n#[schemars(length(min = 1, max = 120))]",
            ty: "String",
        },
        Field { name: "priority", about: "/// How soon it is to be done.", ty: "#Priority" },
        Field { name: "watchers", about: "/// The people to notify.", ty: "Vec<#Person>" },
        Field { name: "labels", about: "/// Labels of the ticket.", ty: "Vec<#Label>" },
        Field {
            name: "hours",
            about: "/// The hours it may take.\n#[schemars(range(min = 0.0, max = 400.0))]",
            ty: "Option<f64>",
        },
    ],
    result: "Result<#Ticket, String>",
    body: "{
        if labels.iter().any(|label| label.color == Some(@)) {
            Err(format!(\"the colour of {title} is taken\"))
        } else {
            let labels = labels.into_iter().map(|label| label.name).collect();
            let id = hours.unwrap_or(1.0) as i64 + @;
            Ok(#Ticket { id, title, priority, watchers, labels, is_open: priority != #Priority::Low })
        }
    }",
};

const UPDATE: Template = Template {
    verb: "update",
    noun: "Update",
    about: "Changes an account of region @.",
    types: "
/// A change of an account.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = \"kind\", rename_all = \"snake_case\")]
enum #Change {
    /// Gives it another name.
    Rename {
        /// The new name.
        name: String,
    },
    /// Moves it to another address.
    Move(#Address),
    /// Closes it.
    Close,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct #Address {
    street: String,
    city: String,
    /// The number of the house.
    #[schemars(range(min = 1))]
    house: u32,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct #Account {
    id: u64,
    name: Option<String>,
    address: Option<#Address>,
    is_closed: bool,
    history: Vec<String>,
}
",
    fields: &[
        Field { name: "id", about: "/// The number of the account.", ty: "u64" },
        Field { name: "change", about: "/// The change to make.", ty: "#Change" },
        Field { name: "reasons", about: "/// The reasons for it.\n#[schemars(length(max = 8))]", ty: "Vec<String>" },
        Field { name: "dry_run", about: "/// Reports the change without making it.", ty: "bool" },
    ],
    result: "#Account",
    body: "{
        let (id, is_real) = (id + @, !dry_run);
        match change {
            #Change::Rename { name } => {
                #Account { id, name: Some(name), address: None, is_closed: false, history: reasons }
            }
            #Change::Move(address) => {
                #Account { id, name: None, address: Some(address), is_closed: false, history: reasons }
            }
            #Change::Close => #Account { id, name: None, address: None, is_closed: is_real, history: reasons },
        }
    }",
};

const PLAN: Template = Template {
    verb: "plan",
    noun: "Plan",
    about: "Plans a route through district @.",
    types: "
/// A place on the map.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct #Point {
    /// Degrees north of the equator.
    #[schemars(range(min = -90.0, max = 90.0))]
    lat: f64,
    /// Degrees east of Greenwich.
    #[schemars(range(min = -180.0, max = 180.0))]
    lon: f64,
}

/// A means of travel.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = \"kebab-case\")]
enum #Mode {
    OnFoot,
    Bicycle,
    Train,
    Car,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = \"camelCase\")]
struct #Leg {
    start: #Point,
    end: #Point,
    mode: #Mode,
    meters_long: f64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct #Route {
    legs: Vec<#Leg>,
    meters: f64,
    seats: u8,
    notes: Vec<String>,
}
",
    fields: &[
        Field { name: "start", about: "/// The start of the route.", ty: "#Point" },
        Field {
            name: "stops",
            about: "/// The stops of the route.\n#[schemars(length(min = 1, max = 20))]",
            ty: "Vec<#Point>",
        },
        Field { name: "mode", about: "/// The means of travel.", ty: "#Mode" },
        Field {
            name: "seats",
            about: "/// The number of travellers.\n#[serde(default)]\n#[schemars(range(max = 9))]",
            ty: "u8",
        },
    ],
    result: "Result<#Route, String>",
    body: "{
        let mut legs = Vec::new();
        let mut here = start;
        for stop in stops {
            let meters_long = ((here.lat - stop.lat).powi(2) + (here.lon - stop.lon).powi(2)).sqrt() * 111_000.0;
            legs.push(#Leg { start: here, end: stop.clone(), mode, meters_long });
            here = stop;
        }
        let meters: f64 = legs.iter().map(|leg| leg.meters_long).sum();
        if meters > 1e7 + @.0 {
            Err(format!(\"{meters} m is too far\"))
        } else {
            Ok(#Route { legs, meters, seats, notes: Vec::new() })
        }
    }",
};

impl Template {
    /// Returns the kind of a tool.
    pub(super) fn of(number: usize) -> Self {
        TEMPLATES[number % TEMPLATES.len()]
    }

    /// Fills in the number of a tool.
    pub(super) fn fill(&self, text: &str, number: usize) -> String {
        // Attributes begin with `#[`, names never do.
        let mut filled = String::with_capacity(text.len() + 64);
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '@' => filled.push_str(&number.to_string()),
                '#' if characters.peek() != Some(&'[') => filled.push_str(&self.type_name(number)),
                other => filled.push(other),
            }
        }
        filled
    }

    /// Returns the name of a tool.
    pub(super) fn tool_name(&self, number: usize) -> String {
        format!("{}_{number}", self.verb)
    }

    /// Returns the name of a tool's parameters, with which those of its other types begin.
    pub(super) fn type_name(&self, number: usize) -> String {
        format!("{}{number}", self.noun)
    }

    /// Returns the parameters of a tool as they are declared.
    pub(super) fn declared(&self, number: usize) -> String {
        let mut fields = String::new();
        for Field { name, about, ty } in self.fields {
            fields.push_str(&format!("{about}\n{name}: {ty},\n"));
        }
        self.fill(&fields, number)
    }

    /// Returns the names of the parameters.
    pub(super) fn names(&self) -> String {
        self.fields.iter().map(|field| field.name).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::{CALL, TEMPLATES, Template};

    #[test]
    fn a_number_and_a_name_are_filled_in_and_attributes_stay() {
        let search = Template::of(4);
        assert_eq!(
            search.fill("#[derive(A)] struct #Years { /* @ */ }", 4),
            "#[derive(A)] struct Search4Years { /* 4 */ }"
        );
        assert_eq!((search.tool_name(4), search.type_name(4)), ("search_4".to_owned(), "Search4".to_owned()));
        assert!(search.declared(4).contains("/// The records to look at.\nfilter: Search4Filter,\n"));
        assert_eq!(search.names(), "query, filter, order, limit");
    }

    #[test]
    fn every_kind_has_nested_types_an_enum_a_list_and_a_bound() {
        for template in TEMPLATES {
            let all = format!("{}{}", template.types, template.declared(0));
            for wanted in ["struct #", "enum #", "Vec<", "#[schemars(", "/// "] {
                assert!(all.contains(wanted) || template.types.contains(wanted), "{}: {wanted}", template.verb);
            }
        }
    }

    #[test]
    fn the_call_and_its_value_are_json() {
        for text in [CALL.0, CALL.1] {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
    }
}
