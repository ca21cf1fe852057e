//! Conversion of arguments between the shape of a tool's schema and that of a provider.
//!
//! A dialect may render a schema in another shape: optional members as nullable ones, a map as an array of pairs, a
//! string in an object. The model then writes its arguments in that shape. A [`Codec`] converts them back before the
//! tool's own schema checks them, and converts earlier arguments of a conversation to the provider's shape when the
//! history is sent again. It converts text to text, so numbers keep their digits and the tool still reads its arguments
//! once.
//!
//! A codec checks nothing: what it returns is as untrusted as what it got.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::issue::Issues;

/// A conversion of arguments and its inverse. See [`Reshape`](crate::Reshape) for one that covers the usual changes of
/// shape.
///
/// Text that has no counterpart is an error, or is returned unchanged, so that the tool's schema rejects it. An
/// implementation must not panic, whatever the text.
pub trait Transcode: fmt::Debug + Send + Sync {
    /// Converts the arguments that a provider sent to the shape of the tool's schema.
    fn decode<'t>(&self, arguments: &'t str) -> Result<Cow<'t, str>, CodecError>;

    /// Converts arguments in the shape of the tool's schema to the provider's shape.
    fn encode<'t>(&self, arguments: &'t str) -> Result<Cow<'t, str>, CodecError>;
}

/// The conversion that belongs to one rendered schema. The default changes nothing and takes no memory; clones share
/// the conversion.
///
/// An adapter that sends the rendering to a provider keeps its codec, by the name of the tool. It
/// [decodes](Codec::decode) the arguments of each call before it creates the `ToolCall`; arguments
/// that can't be decoded are answered with the error, whose text is written for the model. It [encodes](Codec::encode)
/// the arguments of earlier calls when it sends the history, so that the model sees them in the shape that it wrote.
///
/// ```
/// use std::borrow::Cow;
///
/// use haft_schema::{Codec, CodecError, Transcode};
///
/// /// Sends a value as the only item of an array.
/// #[derive(Debug)]
/// struct Listed;
///
/// impl Transcode for Listed {
///     fn decode<'t>(&self, arguments: &'t str) -> Result<Cow<'t, str>, CodecError> {
///         let item = arguments.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
///         Ok(item.unwrap_or(arguments).into())
///     }
///
///     fn encode<'t>(&self, arguments: &'t str) -> Result<Cow<'t, str>, CodecError> {
///         Ok(format!("[{arguments}]").into())
///     }
/// }
///
/// let codec = Codec::new(Listed);
/// assert_eq!(codec.encode("18446744073709551617")?, "[18446744073709551617]");
/// assert_eq!(codec.decode("[18446744073709551617]")?, "18446744073709551617");
/// assert!(matches!(Codec::identity().decode("{}")?, Cow::Borrowed("{}")));
/// # Ok::<_, CodecError>(())
/// ```
#[derive(Clone, Default)]
pub struct Codec(Option<Arc<dyn Transcode>>);

/// The error for arguments that can't be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The text is not JSON, too long, too deep or ambiguous.
    #[error("the arguments can't be converted: {0}")]
    Text(Issues),
    /// A value has no counterpart in the other shape.
    #[error("the arguments can't be converted: {}{message}", location(.pointer))]
    Shape {
        /// The JSON Pointer to the value in the text that was to be converted.
        pointer: String,
        /// The reason, and what to send instead.
        message: String,
    },
    /// The converted text would be too long.
    #[error("the arguments can't be converted: the converted text exceeds {0} bytes; send less")]
    TooLong(usize),
}

impl Codec {
    /// Creates the codec that returns every text unchanged.
    #[must_use]
    pub const fn identity() -> Self {
        Self(None)
    }

    /// Creates a codec from a conversion.
    #[must_use]
    pub fn new(conversion: impl Transcode + 'static) -> Self {
        Self(Some(Arc::new(conversion)))
    }

    /// Reports whether this is the codec that changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.0.is_none()
    }

    /// Converts the arguments that a provider sent to the shape of the tool's schema.
    pub fn decode<'t>(&self, arguments: &'t str) -> Result<Cow<'t, str>, CodecError> {
        match &self.0 {
            Some(conversion) => conversion.decode(arguments),
            None => Ok(Cow::Borrowed(arguments)),
        }
    }

    /// Converts arguments in the shape of the tool's schema to the provider's shape.
    pub fn encode<'t>(&self, arguments: &'t str) -> Result<Cow<'t, str>, CodecError> {
        match &self.0 {
            Some(conversion) => conversion.encode(arguments),
            None => Ok(Cow::Borrowed(arguments)),
        }
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(conversion) => f.debug_tuple("Codec").field(conversion).finish(),
            None => f.write_str("Codec::identity"),
        }
    }
}

fn location(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!("{pointer}: ") }
}
