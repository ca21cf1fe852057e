//! The form of a result for the model.

/// The part for the model of a result that has both structured content and content parts. Servers often send the same
/// value in both, and the model never reads it twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ResultPolicy {
    /// The structured content, followed by the parts that are no text: images, audio, resources and links.
    #[default]
    StructuredFirst,
    /// The content parts. The structured content is the value for your program.
    ContentFirst,
    /// The content parts, followed by the structured content unless one of the parts repeats it.
    Both,
}
