//! The standard toolbox: tools that work offline.
