//! The places in a request where arguments go, and how their values are written there.

/// An argument that goes to one place in the request.
///
/// ```
/// use haft_tools::http::{ParameterStyle, RequestParameter};
///
/// let labels = RequestParameter::query("labels").named("label").style(ParameterStyle::Comma);
/// assert_eq!((labels.argument.as_str(), labels.wire_name.as_str()), ("labels", "label"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestParameter {
    /// The name of the argument.
    pub argument: String,
    /// The place in the request.
    pub place: ParameterPlace,
    /// The name in the request: the URL variable, query parameter, header or cookie.
    pub wire_name: String,
    /// The notation for values that are not scalars.
    pub style: ParameterStyle,
    /// True if reserved characters such as `/` and `:` stay as they are in the query: `allowReserved` in OpenAPI. `&`,
    /// `#`, `+` and `%` are always escaped, because they would change the request.
    pub allow_reserved: bool,
    /// True if an empty list or object is sent as `name=` in the query, instead of left out: `allowEmptyValue` in
    /// OpenAPI.
    pub allow_empty: bool,
}

/// A place in a request where an argument can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParameterPlace {
    /// A variable in the URL template's path.
    Path,
    /// The query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

/// The notation for arrays and objects. All styles write scalars alike: texts as they are, numbers and booleans as in
/// JSON. `null` is omitted everywhere. Values that nest deeper than a style supports are written as JSON. A value that
/// would be read as another one, such as a comma in a list in a header, fails the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParameterStyle {
    /// `a=1&a=2` for arrays, JSON for objects. In a path or a header, the same as [`Comma`](Self::Comma).
    Repeat,
    /// `a=1&a=2` for arrays, and one parameter per object member, under the member's name: `form` with `explode` in
    /// OpenAPI. Members with another parameter's name are rejected.
    Spread,
    /// `1,2` for arrays, `key,value,key,value` for objects: `simple`, or `form` without `explode` in OpenAPI.
    Comma,
    /// `1,2` for arrays, `key=value,key=value` for objects: `simple` with `explode` in OpenAPI.
    CommaPairs,
    /// `1%202` for arrays, and as [`Comma`](Self::Comma) with spaces for objects: `spaceDelimited` in OpenAPI.
    Space,
    /// `1|2` for arrays, and as [`Comma`](Self::Comma) with bars for objects: `pipeDelimited` in OpenAPI.
    Pipe,
    /// `a[key]=value` for objects, `a[]=1&a[]=2` for arrays, and `a[0][key]=value` for arrays of objects, at any depth up
    /// to 16: `deepObject` in OpenAPI, which leaves arrays open.
    DeepObject,
    /// `.1,2` for arrays, `.key,value` for objects: `label` in OpenAPI.
    Label,
    /// `.1.2` for arrays, `.key=value.key=value` for objects: `label` with `explode` in OpenAPI.
    LabelPairs,
    /// `;a=1,2` for arrays, `;a=key,value` for objects: `matrix` in OpenAPI.
    Matrix,
    /// `;a=1;a=2` for arrays, `;key=value;key=value` for objects: `matrix` with `explode` in OpenAPI.
    MatrixPairs,
    /// Any value's JSON text, strings included: a parameter with `content` in OpenAPI.
    Json,
}

impl RequestParameter {
    /// Creates a parameter for this place, with the argument's name and the place's usual style: commas in paths and
    /// headers, repeated names in queries and cookies.
    #[must_use]
    pub fn new(argument: impl Into<String>, place: ParameterPlace) -> Self {
        let argument = argument.into();
        let style = match place {
            ParameterPlace::Path | ParameterPlace::Header => ParameterStyle::Comma,
            ParameterPlace::Query | ParameterPlace::Cookie => ParameterStyle::Repeat,
        };
        Self { wire_name: argument.clone(), argument, place, style, allow_reserved: false, allow_empty: false }
    }

    /// Creates a parameter for a variable in the path.
    #[must_use]
    pub fn path(argument: impl Into<String>) -> Self {
        Self::new(argument, ParameterPlace::Path)
    }

    /// Creates a query parameter.
    #[must_use]
    pub fn query(argument: impl Into<String>) -> Self {
        Self::new(argument, ParameterPlace::Query)
    }

    /// Creates a parameter that is a header.
    #[must_use]
    pub fn header(argument: impl Into<String>) -> Self {
        Self::new(argument, ParameterPlace::Header)
    }

    /// Creates a parameter that is a cookie.
    #[must_use]
    pub fn cookie(argument: impl Into<String>) -> Self {
        Self::new(argument, ParameterPlace::Cookie)
    }

    /// Sets the name in the request.
    #[must_use]
    pub fn named(mut self, wire_name: impl Into<String>) -> Self {
        self.wire_name = wire_name.into();
        self
    }

    /// Sets the style.
    #[must_use]
    pub fn style(mut self, style: ParameterStyle) -> Self {
        self.style = style;
        self
    }

    /// Leaves reserved characters in the query as they are.
    #[must_use]
    pub fn allow_reserved(mut self) -> Self {
        self.allow_reserved = true;
        self
    }

    /// Sends empty lists and objects in the query as `name=`.
    #[must_use]
    pub fn allow_empty(mut self) -> Self {
        self.allow_empty = true;
        self
    }
}
