//! Values and traits of haft.
