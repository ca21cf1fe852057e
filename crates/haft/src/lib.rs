//! haft
